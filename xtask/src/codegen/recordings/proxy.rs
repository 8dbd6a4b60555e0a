use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

/// `kubectl proxy`: it does TLS and the token, so that plain requests reach the control plane. Ends when dropped.
pub(super) struct Proxy {
    child: Child,
    address: String,
}

impl Proxy {
    pub(super) fn start(kubectl: &Path, kubeconfig: &Path) -> Result<Self> {
        let mut child = Command::new(kubectl)
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(["proxy", "--port=0"])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("running {}", kubectl.display()))?;
        let output = child.stdout.take().context("kubectl proxy has no output")?;
        let mut proxy = Self { child, address: String::new() };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).context("reading what kubectl proxy says")?;
        let address = line.trim().rsplit(' ').next().filter(|address| address.contains(':'));
        address
            .ok_or_else(|| anyhow!("kubectl proxy doesn't say where it listens: {line}"))?
            .clone_into(&mut proxy.address);
        Ok(proxy)
    }

    /// Sends a request; gives the status code and the body.
    pub(super) fn ask(&self, method: &str, path: &str, media_type: &str, body: &str) -> Result<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.address).context("connecting to kubectl proxy")?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        // A connection of HTTP/1.0 ends with the answer, which is then simple to read.
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nUser-Agent: recorded\r\nAccept: application/json\r\n\
             Content-Type: {media_type}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).with_context(|| format!("reading the answer to {method} {path}"))?;
        let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no end of headers")?;
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("the answer has no code")?;
        let body = serde_json::from_str(body).with_context(|| format!("decoding the answer to {method} {path}"))?;
        Ok((code, body))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
