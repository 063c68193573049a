//! `leasecheck explore`: a page on this machine, to walk a claim by hand.
//!
//! The server holds no state: a path from the start names everything, and every answer is worked out from it. It
//! listens on the loopback address only, and answers only requests that name that address, so that no other page can
//! have a browser ask it (DNS rebinding).

use crate::explorers::{no_start, with_options};
use crate::progress::Progress;
use crate::{Limits, OK, WRONG, check};
use leasecheck_reports::html::{self, data};
use leasecheck_reports::{model, plain::plain};
use leasecheck_sim::explore::{self, Token, replay};
use leasecheck_sim::litmus::{LitmusFile, Source, load};
use leasecheck_sim::program::Program;
use leasecheck_sim::verdict::Verdict;
use leasecheck_sim::world::{Effects, Step, World};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;
use tiny_http::{Header, Method, Request, Response, Server};

/// The longest path that is walked.
const MOST_STEPS: usize = 20_000;
/// How long to wait before looking whether to end.
const TICK: Duration = Duration::from_millis(200);

/// A step that can be taken.
#[derive(Serialize)]
struct Enabled {
    agent: u8,
    text: String,
    line: u32,
    /// The path with this step at its end.
    path: String,
}

/// Where a path leads.
#[derive(Serialize)]
struct State {
    path: String,
    /// The path without its last step.
    back: Option<String>,
    run: data::Run,
    enabled: Vec<Enabled>,
    /// Whether every thread has ended and every queue is empty.
    finished: bool,
    /// Names and values of variables.
    variables: Vec<(String, String)>,
}

/// The case that a page lists.
#[derive(Serialize)]
struct Case {
    name: String,
    expected: String,
}

/// What the page knows from the beginning.
#[derive(Serialize)]
struct Start {
    claim: String,
    statement: String,
    source: String,
    file: String,
    cases: Vec<Case>,
}

/// Answers with a status, a type and a body.
type Answer = (u16, &'static str, String);

struct Site<'a> {
    file: LitmusFile,
    text: String,
    path: String,
    limits: Limits,
    progress: &'a Progress,
}

fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(text) => (200, "application/json", text),
        Err(error) => (500, "text/plain; charset=utf-8", error.to_string()),
    }
}

fn refused(status: u16, why: &str) -> Answer {
    (status, "text/plain; charset=utf-8", format!("{why}\n"))
}

impl Site<'_> {
    fn page(&self) -> Answer {
        let case = |program: &Program| Case { name: plain(&program.name.1), expected: model::expected(program) };
        let start = Start {
            claim: plain(&self.file.name),
            statement: plain(&self.file.claim),
            source: plain(&self.file.source),
            file: plain(&self.path),
            cases: self.file.cases.iter().map(case).collect(),
        };
        match html::explore(&self.file.name, &start) {
            Ok(page) => (200, "text/html; charset=utf-8", page),
            Err(error) => refused(500, &error),
        }
    }

    fn token(&self, case: usize, steps: &[Step]) -> Token {
        Token { claim: self.file.name.clone(), case, steps: steps.to_vec() }
    }

    /// A schedule as part of an address: what follows the colon of a token.
    fn encoded(&self, case: usize, steps: &[Step]) -> String {
        let token = self.token(case, steps).to_string();
        token.rsplit_once(':').map_or(String::new(), |(_, path)| path.to_owned())
    }

    /// The case and the schedule that a query names.
    fn walked(&self, query: &str) -> Result<(usize, &Program, Vec<Step>), Answer> {
        let case = parameter(query, "case").and_then(|case| case.parse().ok()).unwrap_or(0_usize);
        let program = self.file.cases.get(case).ok_or_else(|| refused(404, "there is no such case"))?;
        let path = parameter(query, "path").unwrap_or_default();
        let token: Result<Token, _> = format!("1.{}.{case}:{path}", self.file.name).parse();
        let token = token.map_err(|_| refused(400, "the path is not a schedule"))?;
        if token.steps.len() > MOST_STEPS
            || token.steps.iter().any(|step| usize::from(step.agent) >= program.agents.len())
        {
            return Err(refused(400, "the path is not a schedule of this case"));
        }
        Ok((case, program, token.steps))
    }

    fn state(&self, query: &str) -> Result<Answer, Answer> {
        let (case, program, steps) = self.walked(query)?;
        let mut world =
            World::start(program).map_err(|error| refused(400, &no_start(&self.path, program, &error).message))?;
        let run = replay::run(program, &steps).map_err(|misfit| refused(400, &misfit.to_string()))?;
        let violated = run.violation.is_some();
        let mut variables = Vec::new();
        let mut enabled = Vec::new();
        let mut finished = false;
        let clean = steps.iter().all(|step| world.step(program, *step, &mut Effects::default()).is_ok());
        // A world in which a step went wrong is not meaningful.
        if clean {
            finished = world.finished();
            for (at, var) in program.vars.iter().enumerate() {
                variables.push((plain(&var.name), plain(&world.describe(program, at as u8))));
            }
            let mut possible = Vec::new();
            if !violated {
                world.enabled(program, &mut possible);
            }
            for step in possible {
                let line = world.step_pc(program, step).and_then(|pc| program.code.get(usize::from(pc)));
                let longer: Vec<Step> = steps.iter().copied().chain([step]).collect();
                enabled.push(Enabled {
                    agent: step.agent,
                    text: plain(&world.step_text(program, step)),
                    line: line.map_or(0, |instr| instr.line),
                    path: self.encoded(case, &longer),
                });
            }
        }
        let report = model::counterexample(program, &run, &self.token(case, &steps), &self.path, false);
        let back = steps.split_last().map(|(_, before)| self.encoded(case, before));
        let path = self.encoded(case, &steps);
        Ok(json(&State { path, back, run: data::run(&report), enabled, finished, variables }))
    }

    /// The path of the shortest counterexample, or why there is none.
    fn counterexample(&self, query: &str) -> Result<Answer, Answer> {
        let (case, program, _) = self.walked(query)?;
        let outcome = with_options(self.limits, self.progress, |options| explore::check(program, options));
        let outcome = outcome.map_err(|error| refused(400, &no_start(&self.path, program, &error).message))?;
        let words = match &outcome.verdict {
            Verdict::Reachable(found) => (Some(self.encoded(case, &found.steps)), String::new()),
            Verdict::Truncated { .. } => {
                (None, format!("unknown: a limit was reached after {} states", outcome.states))
            }
            verdict => (None, format!("{}: all {} states were explored", verdict.word(), outcome.states)),
        };
        Ok(json(&words))
    }

    /// The case alone, with what the walk reached as its claim and the schedule as a comment.
    fn litmus(&self, query: &str) -> Result<Answer, Answer> {
        let (case, program, steps) = self.walked(query)?;
        let run = replay::run(program, &steps).map_err(|misfit| refused(400, &misfit.to_string()))?;
        let mut out = "# Walked by hand in `leasecheck explore`, in this order:\n".to_owned();
        for (at, row) in run.rows.iter().enumerate() {
            let agent = &program.agents[usize::from(row.step.agent)].name;
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# {:>4}  {}: {}", at + 1, plain(agent), plain(&row.text));
        }
        let _ = writeln!(out, "# The same walk in a terminal: leasecheck replay {} FILE\n", self.token(0, &steps));
        out += &only(&self.text, case, run.violation.as_ref().map(|violation| violation.code.name()));
        let source = Source { path: "the walked case".to_owned(), text: out.clone() };
        match load(&source) {
            Ok(file) if file.cases.len() == 1 => Ok((200, "application/toml; charset=utf-8", out)),
            _ => Err(refused(500, "the case cannot be taken out of its file")),
        }
    }

    fn answer(&self, method: &Method, url: &str) -> Answer {
        if *method != Method::Get {
            return refused(405, "only GET is answered");
        }
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let answer = match path {
            "/" => Ok(self.page()),
            "/state" => self.state(query),
            "/counterexample" => self.counterexample(query),
            "/litmus" => self.litmus(query),
            _ => Err(refused(404, "there is nothing here")),
        };
        answer.unwrap_or_else(|refusal| refusal)
    }
}

/// The text of a litmus file with one of its cases, which claims `code` if that is given.
fn only(text: &str, case: usize, code: Option<&str>) -> String {
    let mut out = String::new();
    let (mut cases, mut keep, mut inside) = (0_usize, true, false);
    for line in text.lines() {
        let quotes = line.matches("\"\"\"").count() + line.matches("'''").count();
        if !inside && line.starts_with('[') {
            let header = line.trim_start_matches('[').trim_start();
            if line.starts_with("[[") && header.starts_with("case") {
                cases += 1;
            }
            let of_case = header.starts_with("case]") || header.starts_with("case.");
            keep = !of_case || cases == case + 1;
        }
        let claims = !inside && line.starts_with("expect") && cases == case + 1;
        if keep {
            match code.filter(|_| claims) {
                Some(code) => out += &format!("expect = {{ reachable = \"{code}\" }}\n"),
                None => out += &format!("{line}\n"),
            }
        }
        inside ^= quotes % 2 == 1;
    }
    out
}

/// Whether the request names this server, and not a name that somebody has let point here.
fn is_for_us(request: &Request, port: u16) -> bool {
    let mut hosts = request.headers().iter().filter(|header| header.field.equiv("Host"));
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    [format!("127.0.0.1:{port}"), format!("localhost:{port}")].contains(&host.value.as_str().to_owned())
}

fn respond(request: Request, (status, kind, body): Answer) {
    let headers = [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
    ];
    let mut response = Response::from_string(body).with_status_code(status);
    for (name, value) in headers {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    // Whoever asked may have gone away.
    let _ = request.respond(response);
}

pub fn run(path: &Path, port: u16, limits: Limits) -> u8 {
    if let Err(message) = check::workers(limits) {
        eprintln!("{message}");
        return WRONG;
    }
    let (file, text) = match check::one(path) {
        Ok(file) => (file, std::fs::read_to_string(path).unwrap_or_default()),
        Err(code) => return code,
    };
    let server = match Server::http(("127.0.0.1", port)) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("error: 127.0.0.1:{port}: cannot be listened on: {error}; another one: --port N");
            return WRONG;
        }
    };
    let port = server.server_addr().to_ip().map_or(port, |address| address.port());
    let progress = Progress::start(None);
    progress.say("explore; Ctrl-C ends it");
    crate::print(&format!("http://127.0.0.1:{port}/\n"));
    let site = Site { file, text, path: path.display().to_string(), limits, progress: &progress };
    // A thread for each request: while one page waits for a counterexample, others are answered.
    let code = std::thread::scope(|scope| {
        while !progress.interrupted() {
            match server.recv_timeout(TICK) {
                Ok(Some(request)) if !is_for_us(&request, port) => {
                    respond(request, refused(403, "this server answers to 127.0.0.1 and localhost only"));
                }
                Ok(Some(request)) => {
                    let site = &site;
                    scope.spawn(move || {
                        let answer = site.answer(request.method(), request.url());
                        respond(request, answer);
                    });
                }
                Ok(None) => {}
                Err(error) => {
                    eprintln!("error: the server ended: {error}");
                    return WRONG;
                }
            }
        }
        OK
    });
    progress.end();
    code
}

#[cfg(test)]
mod tests {
    use super::only;

    #[test]
    fn a_case_is_taken_out_of_its_file() {
        let text = "name = \"n\"\n\n[[case]]\nname = \"one\"\nexpect = \"unreachable\"\nthreads.t = \"\"\"\n[[case]]\n\"\"\"\n\n\
                    [[case]]\nname = \"two\"\nexpect = \"unreachable\"\n\n[arena.host]\nbytes = 8\n";
        let second = only(text, 1, Some("race"));
        assert!(second.contains("two") && !second.contains("one") && second.contains("bytes = 8"));
        assert!(second.contains("expect = { reachable = \"race\" }") && !second.contains("unreachable"));
        assert_eq!(only(text, 0, None).matches("[[case]]").count(), 2, "one of them is part of a program");
    }
}
