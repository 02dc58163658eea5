import unittest

from budget import cents, left, total


class Budget(unittest.TestCase):
    def test_whole_amounts(self):
        self.assertEqual(cents("12"), 1200)
        self.assertEqual(cents("12.50"), 1250)

    def test_one_decimal_means_tenths(self):
        self.assertEqual(cents("0.5"), 50)

    def test_an_unknown_line_counts_as_other(self):
        self.assertEqual(total([("cinema", "11.50")])["other"], 1150)

    def test_overspending_is_negative(self):
        self.assertEqual(left("10.00", [("food", "12.00")]), -200)


if __name__ == "__main__":
    unittest.main()
