//! Charts, drawn as SVG when a page is written.

use crate::html::gate::More;
use crate::model::{CaseReport, Report};
use crate::plain::short;
use crate::why::Chances;
use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Color, DrawingArea, IntoDrawingArea, IntoLogRange, LineSeries, RGBColor, Rectangle, SVGBackend, Text,
    WHITE,
};
use std::fmt::Display;

const BLUE: RGBColor = RGBColor(0x1f, 0x5f, 0xd0);
const RED: RGBColor = RGBColor(0xc3, 0x16, 0x2f);
/// The size of a chart of a whole gate, and of one of a case.
const LARGE: (u32, u32) = (800, 320);
const SMALL: (u32, u32) = (520, 190);
/// The slowest cases that are shown.
const SLOWEST: usize = 15;
/// The most bars of a chart of a case.
const MOST_BARS: usize = 120;

/// A chart and what it is about.
pub struct Chart {
    /// The number of a case in the page, or `gate`.
    pub of: String,
    /// The drawing.
    pub svg: String,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn failed(error: impl Display) -> String {
    error.to_string()
}

fn draw(of: String, size: (u32, u32), paint: impl Fn(&Area<'_>) -> Result<(), String>) -> Result<Chart, String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        paint(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(Chart { of, svg })
}

/// States by depth of every case, and the time of the slowest.
///
/// # Errors
/// When a chart cannot be drawn, which any report can.
pub fn gate(report: &Report, more: &[More]) -> Result<Vec<Chart>, String> {
    if report.cases.is_empty() {
        return Ok(Vec::new());
    }
    let of = || "gate".to_owned();
    Ok(vec![draw(of(), LARGE, |area| depths(report, area))?, draw(of(), LARGE, |area| time(report, more, area))?])
}

fn depths(report: &Report, area: &Area<'_>) -> Result<(), String> {
    let deepest = report.cases.iter().map(|case| case.levels.len()).max().unwrap_or(1).max(2);
    let most = report.cases.iter().flat_map(|case| &case.levels).copied().max().unwrap_or(1).max(10) * 2;
    let mut chart = ChartBuilder::on(area)
        .caption("New states at each depth, a line for each case (red: reachable)", ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(70)
        .build_cartesian_2d(0..deepest, (1..most).log_scale())
        .map_err(failed)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc("steps from the start").y_desc("states").light_line_style(WHITE).draw().map_err(failed)?;
    for case in &report.cases {
        let colour = if case.counterexample.is_some() { RED } else { BLUE };
        let points = case.levels.iter().enumerate().map(|(depth, states)| (depth, (*states).max(1)));
        chart.draw_series(LineSeries::new(points, colour.mix(0.4))).map_err(failed)?;
    }
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
        .map_err(failed)?;
    chart.configure_mesh().disable_y_mesh().disable_y_axis().light_line_style(WHITE).draw().map_err(failed)?;
    let bars = slowest.iter().enumerate().map(|(at, (ms, _))| {
        let y = count - 1 - at as i32;
        Rectangle::new([(0.0, y), (*ms, y + 1)], BLUE.mix(0.3).filled())
    });
    chart.draw_series(bars).map_err(failed)?;
    let names = slowest
        .iter()
        .enumerate()
        .map(|(at, (_, name))| Text::new(name.clone(), (0.0, count - at as i32), ("sans-serif", 12)));
    chart.draw_series(names).map_err(failed)?;
    Ok(())
}

/// States by depth of a case, if it has more than its start.
///
/// # Errors
/// When the chart cannot be drawn, which any can.
pub fn levels(nth: usize, case: &CaseReport) -> Result<Option<Chart>, String> {
    let most = case.levels.iter().copied().max().unwrap_or(0);
    if case.levels.len() < 2 {
        return Ok(None);
    }
    let paint = |area: &Area<'_>| {
        let mut chart = ChartBuilder::on(area)
            .caption("New states at each depth of the search", ("sans-serif", 13))
            .margin(6)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0..case.levels.len(), 0..most + 1)
            .map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc("steps from the start").x_labels(8).y_labels(4).light_line_style(WHITE);
        mesh.draw().map_err(failed)?;
        // Of a deep search, a bar stands for several depths and shows the most states of one.
        let wide = case.levels.len().div_ceil(MOST_BARS);
        let bars = case.levels.chunks(wide).enumerate().map(|(at, levels)| {
            let states = levels.iter().copied().max().unwrap_or(0);
            Rectangle::new([(at * wide, 0), (at * wide + levels.len(), states)], BLUE.mix(0.35).filled())
        });
        chart.draw_series(bars).map_err(failed)?;
        Ok(())
    };
    draw(nth.to_string(), SMALL, paint).map(Some)
}

/// How likely the violation is after each step of a run.
///
/// # Errors
/// When the chart cannot be drawn, which any can.
pub fn chances(nth: usize, chances: &Chances) -> Result<Chart, String> {
    let last = chances.hits.last().map_or(1, |(steps, _)| (*steps).max(1));
    let percent = |hits: u32| u64::from(hits) * 100 / u64::from(chances.rolls.max(1));
    let paint = |area: &Area<'_>| {
        let title = format!("P({}) in percent, if all after the step is left to chance", chances.code);
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 13))
            .margin(6)
            .x_label_area_size(36)
            .y_label_area_size(40)
            .build_cartesian_2d(0..last + 1, 0_u64..101)
            .map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(format!("steps taken ({} rolls from each)", chances.rolls));
        mesh.x_labels(8).y_labels(3).light_line_style(WHITE).draw().map_err(failed)?;
        let bars = chances
            .hits
            .iter()
            .map(|(steps, hits)| Rectangle::new([(*steps, 0), (steps + 1, percent(*hits))], RED.mix(0.35).filled()));
        chart.draw_series(bars).map_err(failed)?;
        Ok(())
    };
    draw(nth.to_string(), SMALL, paint)
}
