//! Entry point: takes the mint of trust before anything else, then starts the loop.

fn main() {
    // The first line of the program, so that nothing else can have taken the mint.
    let Some(mint) = kernel::authority::GestureMint::take() else { return };
    shell_lib::run::start(mint);
}
