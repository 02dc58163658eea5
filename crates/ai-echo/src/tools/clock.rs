//! `clock.now`: the time that was passed in, said in words.

use kernel::Instant;

/// The person's time zone, as the shell knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Minutes east of UTC.
    pub offset_minutes: i32,
    /// Its name; empty for UTC.
    pub name: String,
}

const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `Tuesday, 1 December 2026, 01:45 (UTC)`.
pub fn say_time(now: Instant, zone: &Zone) -> String {
    // A zone is at most 14 hours away; anything else is a mistake and is read as UTC.
    let offset = if zone.offset_minutes.abs() <= 14 * 60 { i64::from(zone.offset_minutes) } else { 0 };
    let minutes = now.wall_ms.div_euclid(60_000).saturating_add(offset);
    let (day, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let (year, month, date) = civil(day);
    let name = if zone.name.is_empty() { "UTC" } else { &zone.name };
    format!(
        "{}, {date} {} {year}, {:02}:{:02} ({})",
        DAYS[day.rem_euclid(7) as usize],
        MONTHS[month],
        minute / 60,
        minute % 60,
        kernel::clip::label(name, 64),
    )
}

/// Year, month from 0 and date of a day counted from 1970-01-01, in the Gregorian calendar. Days
/// are counted from a 1 March, so that a leap day is a year's last.
fn civil(day: i64) -> (i64, usize, i64) {
    let day = day.saturating_add(719_468);
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let date = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = (shifted + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month <= 1);
    (year, month as usize, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(seconds: i64, offset_minutes: i32, name: &str) -> String {
        say_time(Instant { wall_ms: seconds * 1000, mono_ms: 0 }, &Zone { offset_minutes, name: name.into() })
    }

    #[test]
    fn dates_are_right_around_the_edges() {
        assert_eq!(said(0, 0, ""), "Thursday, 1 January 1970, 00:00 (UTC)");
        assert_eq!(said(1_796_089_500, 0, ""), "Tuesday, 1 December 2026, 01:45 (UTC)");
        assert_eq!(said(1_709_164_799, 0, ""), "Wednesday, 28 February 2024, 23:59 (UTC)");
        assert_eq!(said(1_709_164_800, 0, ""), "Thursday, 29 February 2024, 00:00 (UTC)");
        assert_eq!(said(1_709_164_799, 60, "Europe/Berlin"), "Thursday, 29 February 2024, 00:59 (Europe/Berlin)");
        assert_eq!(said(-1, 0, ""), "Wednesday, 31 December 1969, 23:59 (UTC)");
        assert_eq!(said(951_782_400, -60, "x"), "Monday, 28 February 2000, 23:00 (x)");
        assert_eq!(said(0, i32::MAX, ""), "Thursday, 1 January 1970, 00:00 (UTC)");
        say_time(Instant { wall_ms: i64::MAX, mono_ms: 0 }, &Zone::default());
        say_time(Instant { wall_ms: i64::MIN, mono_ms: 0 }, &Zone::default());
    }
}
