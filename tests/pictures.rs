//! What the program writes beside its output, and the page that it serves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const REPORTED: &str = "tests/litmus/seed/index-read-before-producer-wait.toml";

fn leasecheck(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leasecheck"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the program starts")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn check_and_replay_draw_the_same_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let words = |name: &str| path(name).to_str().expect("UTF-8").to_owned();
    let checked = leasecheck(&[
        "check",
        REPORTED,
        "--html",
        &words("a.html"),
        "--svg",
        &words("a.svg"),
        "--perfetto",
        &words("a.json"),
    ]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let token = "1.index-read-before-producer-wait.0:AAAAAAAAAg";
    let replayed = leasecheck(&["replay", token, REPORTED, "--svg", &words("b.svg"), "--html", &words("b.html")]);
    assert_eq!(replayed.status.code(), Some(1), "a run that violates: {replayed:?}");
    assert_eq!(text(&path("a.svg")), text(&path("b.svg")));
    assert!(text(&path("a.html")).contains("stale-index") && text(&path("b.html")).contains("stale-index"));
    assert!(text(&path("a.json")).contains("traceEvents"));
    let mut written: Vec<_> =
        std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    written.sort();
    assert_eq!(written, ["a.html", "a.json", "a.svg", "b.html", "b.svg"]);
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error() {
    let ran = leasecheck(&["check", REPORTED, "--html", "no/such/folder/run.html"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("no/such/folder/run.html: cannot be written"), "{ran:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("none.svg");
    let ran = leasecheck(&["check", REPORTED, "--case", "wait first", "--svg", path.to_str().expect("UTF-8")]);
    assert_eq!(ran.status.code(), Some(0), "the verdict is what counts: {ran:?}");
    assert!(!path.exists() && String::from_utf8_lossy(&ran.stderr).contains("no case has a run to draw"));
}

/// `leasecheck explore` while it serves.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start(file: &str) -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_leasecheck"))
            .args(["explore", file])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("an output")).read_line(&mut line).expect("an address");
        let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
        Served { child, port: port.unwrap_or_else(|| panic!("no port in {line:?}")) }
    }

    /// The status and the body of an answer to a request with these lines.
    fn ask(&self, head: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}", self.port))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It is gone if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn pictures_are_written_where_they_are_named_and_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let words = |name: &str| path(name).to_str().expect("UTF-8").to_owned();
    let litmus = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join(REPORTED));
    let hostile = litmus.replace("\"as reported\"", "\"../../x\"").replace("L2 submission", "/etc/x ../../x");
    std::fs::write(path("hostile.toml"), hostile).expect("a file");
    let [litmus, page, drawing, trace] = ["hostile.toml", "a.html", "a.svg", "a.json"].map(words);
    let ran = leasecheck(&["check", &litmus, "--html", &page, "--svg", &drawing, "--perfetto", &trace]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let entries = std::fs::read_dir(folder.path()).expect("a folder").flatten();
    let mut written: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    written.sort();
    assert_eq!(written, ["a.html", "a.json", "a.svg", "hostile.toml"]);
    let long = "n".repeat(10_000);
    let ran = leasecheck(&["check", &words("hostile.toml"), "--html", &words(&long)]);
    assert_eq!(ran.status.code(), Some(2), "a name that no file can have");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("cannot be written"), "{ran:?}");
}

#[test]
fn a_claim_is_walked_by_hand() {
    let served = Served::start(REPORTED);
    let (status, page) = served.get("/");
    assert!(status == 200 && page.contains("index-read-before-producer-wait"));
    let (status, state) = served.get("/state?case=0&path=");
    assert!(status == 200 && state.contains("alloc device.full 2"), "{state}");
    let (status, counterexample) = served.get("/counterexample?case=0");
    assert!(status == 200 && counterexample.contains("AAAAAAAAAg"), "{counterexample}");
    let (status, state) = served.get("/state?case=0&path=AAAAAAAAAg");
    assert!(status == 200 && state.contains("\"code\":\"stale-index\"") && state.contains("\"enabled\":[]"), "{state}");
    let (status, none) = served.get("/counterexample?case=1");
    assert!(status == 200 && none.contains("unreachable"), "{none}");
    let (status, litmus) = served.get("/litmus?case=0&path=AAAAAAAAAg");
    assert!(status == 200 && litmus.contains("# ") && litmus.matches("[[case]]").count() == 1, "{litmus}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("walked.toml");
    std::fs::write(&path, litmus).expect("a file");
    assert_eq!(leasecheck(&["check", path.to_str().expect("UTF-8")]).status.code(), Some(0));
}

#[test]
fn the_server_refuses_other_names_methods_and_nonsense() {
    let served = Served::start(REPORTED);
    let port = served.port;
    for host in ["evil.example", "127.0.0.1.evil.example", "127.0.0.1", "localhost", ""] {
        assert_eq!(served.ask(&format!("GET / HTTP/1.1\r\nHost: {host}")).0, 403, "{host}");
    }
    assert_eq!(served.ask("GET / HTTP/1.1").0, 403, "no name at all");
    assert_eq!(served.ask(&format!("GET / HTTP/1.1\r\nHost: localhost:{port}")).0, 200);
    assert_eq!(served.ask(&format!("POST / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 0")).0, 405);
    let walked = |path: &str| served.get(&format!("/state?case=0&path={path}")).0;
    assert_eq!(walked("!"), 400, "no schedule");
    assert_eq!(walked("_w"), 400, "a schedule that is cut off");
    assert_eq!(walked("yMjI"), 400, "agents that do not exist");
    assert_eq!(walked("AgIC"), 400, "steps that cannot be taken");
    assert_eq!(walked("AAAAAAAAAgAA"), 400, "steps after the violation");
    assert_eq!(walked(&"A".repeat(50_000)), 400, "a schedule longer than any");
    assert_eq!(walked("%00%2e%2e%2f"), 400, "what stands for other characters");
    let case = |case: &str| served.get(&format!("/state?case={case}&path=")).0;
    assert_eq!(case("18446744073709551616"), 200, "no number is the first case");
    assert_eq!(case("18446744073709551615"), 404);
    assert_eq!(served.get("/litmus?case=0&path=../../x").0, 400);
    assert_eq!(served.get("/state?case=99&path=").0, 404);
    assert_eq!(served.get("/../../etc/passwd").0, 404);
    assert_eq!(served.get("/").0, 200, "it still serves");
}
