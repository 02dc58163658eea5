//! Time as the host saw it. No function here, or anywhere in this crate, asks a clock (I-1).

use serde::{Deserialize, Serialize};

/// A page load, or a host's run: within one the monotonic clock counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BootId(pub u64);

/// A moment, stamped by the host with every input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instant {
    /// Milliseconds since 1970; may jump.
    pub wall_ms: i64,
    /// Milliseconds since the boot; never goes back.
    pub mono_ms: u64,
    /// The boot.
    pub boot: BootId,
}

impl Instant {
    /// The kernel's stamp, in a boot.
    #[must_use]
    pub fn of(stamp: kernel::Instant, boot: BootId) -> Self {
        Self { wall_ms: stamp.wall_ms, mono_ms: stamp.mono_ms, boot }
    }
}

/// Which clocks measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TimeBasis {
    /// The shorter of wall and monotonic time, in one boot.
    Monotonic,
    /// Wall time alone, across boots.
    WallOnly,
}

/// A clock that cannot be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClockAnomaly {
    /// It went back.
    Backward,
    /// Within one boot, wall time ran a minute or more ahead of monotonic time: set by hand, or a
    /// sleep that the monotonic clock did not count.
    Forward,
}

/// How far wall time may run ahead of monotonic time, milliseconds.
pub const APART_MAX_MS: i128 = 60_000;

/// Time between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed {
    /// Milliseconds, never negative (I-2).
    pub ms: u64,
    /// By which clocks (I-3).
    pub basis: TimeBasis,
    /// What was odd.
    pub anomaly: Option<ClockAnomaly>,
}

/// How long it is from `since` to `now` (I-2, I-3).
#[must_use]
pub fn elapsed(since: Instant, now: Instant) -> Elapsed {
    let wall = i128::from(now.wall_ms) - i128::from(since.wall_ms);
    let mono = (since.boot == now.boot).then(|| i128::from(now.mono_ms) - i128::from(since.mono_ms));
    let shorter = mono.map_or(wall, |m| m.min(wall));
    Elapsed {
        ms: u64::try_from(shorter.max(0)).unwrap_or(u64::MAX),
        basis: if mono.is_some() { TimeBasis::Monotonic } else { TimeBasis::WallOnly },
        anomaly: match shorter {
            ..0 => Some(ClockAnomaly::Backward),
            _ if mono.is_some_and(|m| wall - m >= APART_MAX_MS) => Some(ClockAnomaly::Forward),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wall_ms: i64, mono_ms: u64, boot: u64) -> Instant {
        Instant { wall_ms, mono_ms, boot: BootId(boot) }
    }

    #[test]
    fn i2_i3_the_shorter_clock_counts_and_a_backward_one_is_zero() {
        for (since, now, ms, basis, odd) in [
            (at(0, 0, 1), at(500, 300, 1), 300, TimeBasis::Monotonic, false),
            (at(0, 0, 1), at(300, 500, 1), 300, TimeBasis::Monotonic, false),
            (at(3_600_000, 0, 1), at(0, 900, 1), 0, TimeBasis::Monotonic, true),
            (at(0, 900, 1), at(500, 0, 1), 0, TimeBasis::Monotonic, true),
            (at(0, 900, 1), at(500, 0, 2), 500, TimeBasis::WallOnly, false),
            (at(500, 0, 1), at(0, 0, 2), 0, TimeBasis::WallOnly, true),
            (at(0, 0, 1), at(60_500, 500, 1), 500, TimeBasis::Monotonic, true),
            (at(0, 0, 1), at(60_499, 500, 1), 500, TimeBasis::Monotonic, false),
            (at(i64::MIN, 0, 1), at(i64::MAX, 0, 2), u64::MAX, TimeBasis::WallOnly, false),
        ] {
            let got = elapsed(since, now);
            assert_eq!((got.ms, got.basis, got.anomaly.is_some()), (ms, basis, odd), "{since:?} {now:?}");
        }
    }
}
