use anyhow::Result;
use clap::Args;

/// Regenerates what is generated, from the reference control plane.
#[derive(Args, Debug)]
pub(crate) struct Codegen {
    /// Change nothing; fail when something generated differs
    #[arg(long)]
    check: bool,
}

impl Codegen {
    pub(crate) fn run(self) -> Result<()> {
        anyhow::bail!("nothing is generated yet (check: {})", self.check)
    }
}
