//! The driver as a process: started, asked, given up on.

use crate::protocol::{Answer, Hello, PROTOCOL, Step};
use serde::de::DeserializeOwned;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The longest answer that is read.
const LONGEST: u64 = 16 << 20;
/// The least time for the first answer: a driver may have a lot to load.
const GREETING: Duration = Duration::from_secs(300);
/// How much of what a driver writes to its standard error is kept.
const STDERR: usize = 2_000;

/// Why a driver cannot be used, or not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It cannot be started.
    Start(String),
    /// It ended.
    Ended(String),
    /// It did not answer in time.
    Hangs(String),
    /// It answered something that is no answer.
    Rubbish(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Start(why) => write!(f, "the driver cannot be started: {why}"),
            Trouble::Ended(how) => write!(f, "the driver ended instead of answering: {how}"),
            Trouble::Hangs(how) => write!(f, "the driver does not answer: {how}"),
            Trouble::Rubbish(what) => write!(f, "the driver's answer is not one: {what}"),
        }
    }
}

impl std::error::Error for Trouble {}

pub(crate) struct Driver {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Result<String, String>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    timeout: Duration,
    pub(crate) hello: Hello,
}

impl Driver {
    /// Starts the command and exchanges greetings.
    pub(crate) fn start(command: &str, timeout: Duration) -> Result<Driver, Trouble> {
        let words = shell_words::split(command).map_err(|error| Trouble::Start(format!("`{command}`: {error}")))?;
        let [program, arguments @ ..] = words.as_slice() else {
            return Err(Trouble::Start("the command is empty".into()));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Whoever interrupts a campaign at a terminal does not mean the driver: its end would be a difference.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| Trouble::Start(format!("`{program}`: {error}")))?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Trouble::Start(format!("`{program}` has no standard input or output")));
        };
        let (sender, lines) = sync_channel(4);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                let read = output.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                let line = match read {
                    Ok(0) | Err(_) => return,
                    Ok(_) if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST => {
                        Err(format!("a line of more than {LONGEST} bytes"))
                    }
                    Ok(_) => Ok(String::from_utf8_lossy(&line).trim_end().to_owned()),
                };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut errors = errors;
            let mut chunk = [0; 1_024];
            while let Ok(read @ 1..) = errors.read(&mut chunk) {
                let Ok(mut kept) = kept.lock() else { return };
                kept.extend_from_slice(&chunk[..read]);
                let surplus = kept.len().saturating_sub(STDERR);
                kept.drain(..surplus);
            }
        });
        let greeting = timeout.max(GREETING);
        let mut driver = Driver { child, input, lines, stderr, timeout: greeting, hello: Hello::default() };
        driver.hello = driver.exchange(&format!(r#"{{"op":"hello","protocol":{PROTOCOL}}}"#))?;
        driver.timeout = timeout;
        if driver.hello.protocol != PROTOCOL {
            return Err(Trouble::Rubbish(format!(
                "it speaks version {} of the protocol, and this is version {PROTOCOL}",
                driver.hello.protocol
            )));
        }
        Ok(driver)
    }

    /// One step, one answer.
    pub(crate) fn ask(&mut self, step: &Step) -> Result<Answer, Trouble> {
        let line = serde_json::to_string(step).map_err(|error| Trouble::Start(error.to_string()))?;
        self.exchange(&line)
    }

    fn exchange<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, Trouble> {
        let sent = self.input.write_all(line.as_bytes()).and_then(|()| self.input.write_all(b"\n"));
        if sent.and_then(|()| self.input.flush()).is_err() {
            return Err(self.ended());
        }
        match self.lines.recv_timeout(self.timeout) {
            Ok(Ok(answer)) => serde_json::from_str(&answer).map_err(|error| {
                let start: String = answer.chars().take(200).collect();
                Trouble::Rubbish(format!("{error}, in `{start}`, asked `{line}`"))
            }),
            Ok(Err(what)) => Err(Trouble::Rubbish(what)),
            Err(RecvTimeoutError::Timeout) => {
                Err(Trouble::Hangs(format!("within {} s, asked `{line}`", self.timeout.as_secs())))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    fn ended(&mut self) -> Trouble {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        // The reader of the standard error is done soon after the process; what is missing then is only text.
        std::thread::yield_now();
        let text = self.stderr.lock().map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing on its standard error");
        Trouble::Ended(format!("{status}; {last}"))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
