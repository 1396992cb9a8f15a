"""Speed-ups of one program, reported by plumb and measured in turn: their medians are compared."""

import statistics

TOLERANCE = 1.25
MOST_PAIRS = 9


class SpeedUps:
    def __init__(self, test):
        self.test, self.reported, self.measured = test, [], []

    def add(self, reported, measured):
        self.reported.append(reported)
        self.measured.append(measured)

    def count(self):
        return len(self.reported)

    def ratio(self):
        return statistics.median(self.reported) / statistics.median(self.measured)

    def agree(self):
        return self.count() >= 3 and 1 / TOLERANCE <= self.ratio() <= TOLERANCE

    def skip_if_they_scatter(self):
        for name, values in ("reported", self.reported), ("measured", self.measured):
            if max(values) > TOLERANCE * min(values):
                self.test.skipTest(f"the speed-ups {name} scatter by more than a quarter here: {sorted(values)}")

    def skip_unless_far_apart(self):
        """What is timed is not the program: what else this machine does to either is not known here."""
        both = f"reported {self.reported}, measured {self.measured}"
        self.test.assertTrue(0.5 <= self.ratio() <= 2, both)
        self.test.skipTest(f"the speed-ups differ by more than a quarter here: {both}")
