//! Charts of a gate, drawn as SVG when the page is written.

use crate::html::gate::More;
use crate::model::Report;
use crate::plain::short;
use plotters::prelude::{
    ChartBuilder, Circle, Color, DrawingArea, IntoDrawingArea, IntoLogRange, RGBColor, Rectangle, SVGBackend, WHITE,
};

const BLUE: RGBColor = RGBColor(0x1f, 0x5f, 0xd0);
const RED: RGBColor = RGBColor(0xc3, 0x16, 0x2f);
const SIZE: (u32, u32) = (800, 320);
/// The slowest cases that are shown.
const SLOWEST: usize = 15;

fn draw(
    paint: impl Fn(&DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Result<(), String>,
) -> Result<String, String> {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        paint(&area)?;
        area.present().map_err(|error| error.to_string())?;
    }
    Ok(out)
}

/// States by depth, and time per case.
///
/// # Errors
/// When a chart cannot be drawn, which any report can.
pub fn gate(report: &Report, more: &[More]) -> Result<Vec<String>, String> {
    if report.cases.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![draw(|area| depth(report, area))?, draw(|area| time(report, more, area))?])
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn depth(report: &Report, area: &Area<'_>) -> Result<(), String> {
    let deepest = report.cases.iter().map(|case| case.depth).max().unwrap_or(1) + 1;
    let most = report.cases.iter().map(|case| case.states).max().unwrap_or(1).max(10) * 2;
    let mut chart = ChartBuilder::on(area)
        .caption("Distinct states by depth, a dot for each case (red: reachable)", ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(70)
        .build_cartesian_2d(0..deepest, (1..most).log_scale())
        .map_err(|error| error.to_string())?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc("steps from the start")
        .y_desc("states")
        .light_line_style(WHITE)
        .draw()
        .map_err(|error| error.to_string())?;
    let dot = |case: &crate::model::CaseReport| {
        let colour = if case.counterexample.is_some() { RED } else { BLUE };
        Circle::new((case.depth, case.states.max(1)), 4, colour.mix(0.55).filled())
    };
    chart.draw_series(report.cases.iter().map(dot)).map_err(|error| error.to_string())?;
    Ok(())
}

#[expect(clippy::float_arithmetic, reason = "times are for people; no result depends on them")]
fn time(report: &Report, more: &[More], area: &Area<'_>) -> Result<(), String> {
    let mut slowest: Vec<(f64, String)> = report
        .cases
        .iter()
        .zip(more)
        .map(|(case, more)| (more.ms, short(&format!("{} / {}", case.claim, case.case), 60)))
        .collect();
    slowest.sort_by(|one, other| other.0.total_cmp(&one.0));
    slowest.truncate(SLOWEST);
    let longest = slowest.first().map_or(1.0, |(ms, _)| ms.max(0.1));
    let count = slowest.len() as i32;
    let mut chart = ChartBuilder::on(area)
        .caption("Time of the slowest cases, in milliseconds", ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(30)
        .build_cartesian_2d(0.0..longest * 1.05, 0..count)
        .map_err(|error| error.to_string())?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(WHITE)
        .draw()
        .map_err(|error| error.to_string())?;
    let bars = slowest.iter().enumerate().map(|(at, (ms, _))| {
        let y = count - 1 - at as i32;
        Rectangle::new([(0.0, y), (*ms, y + 1)], BLUE.mix(0.3).filled())
    });
    chart.draw_series(bars).map_err(|error| error.to_string())?;
    let names = slowest.iter().enumerate().map(|(at, (_, name))| {
        plotters::prelude::Text::new(name.clone(), (0.0, count - at as i32), ("sans-serif", 12))
    });
    chart.draw_series(names).map_err(|error| error.to_string())?;
    Ok(())
}
