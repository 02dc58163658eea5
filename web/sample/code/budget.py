"""A budget that fits on a postcard: four lines, whole cents."""

LINES = ("home", "food", "travel", "other")


def cents(text):
    """Reads an amount like 12.50 as whole cents."""
    whole, _, part = text.strip().partition(".")
    return int(whole) * 100 + int(part or 0)


def total(entries):
    """Adds up (line, amount) pairs by line; an unknown line counts as other."""
    sums = dict.fromkeys(LINES, 0)
    for line, amount in entries:
        sums[line if line in LINES else "other"] += cents(amount)
    return sums


def left(income, entries):
    """What is left of an income, in cents; negative when it was overspent."""
    return cents(income) - sum(total(entries).values())


if __name__ == "__main__":
    march = [("home", "640.00"), ("food", "212.35"), ("travel", "49.00"), ("cinema", "11.50")]
    for line, amount in total(march).items():
        print(f"{line:8}{amount / 100:>10.2f}")
    print(f"{'left':8}{left('1250.00', march) / 100:>10.2f}")
