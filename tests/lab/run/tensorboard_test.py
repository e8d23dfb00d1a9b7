"""TensorBoard reads what the lab writes: tensorboard_test.py WRITE_EVENTS [ARGS...]."""

import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77
PROGRAM = sys.argv[1:]  # perhaps an emulator first

try:
    from tensorboard.backend.event_processing import (
        event_accumulator,
        event_file_loader,
        plugin_event_accumulator,
    )
    from tensorboard.util import tensor_util
except ImportError:
    print("the tensorboard package is not installed")
    sys.exit(SKIPPED)


class TensorBoardTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        subprocess.run([*PROGRAM, str(self.folder)], check=True, timeout=60)

    def test_reads_both_files_of_a_resumed_run_as_one_curve(self) -> None:
        run = event_accumulator.EventAccumulator(str(self.folder))
        run.Reload()
        points = [(point.step, point.value) for point in run.Scalars("train/loss")]
        before = [(step, 10.0 - step) for step in range(5)]
        after = [(step, 100.0 + step) for step in range(5, 8)]
        self.assertEqual(points, before + after)
        self.assertEqual([point.step for point in run.Scalars("val/loss")], [0, 4])
        self.assertEqual(run.Scalars("train/loss")[0].wall_time, 1000.5)

    def test_the_server_reads_the_same(self) -> None:
        run = plugin_event_accumulator.EventAccumulator(str(self.folder))
        run.Reload()
        points = [
            (point.step, float(tensor_util.make_ndarray(point.tensor_proto)))
            for point in run.Tensors("train/loss")
        ]
        self.assertEqual([step for step, _ in points], list(range(8)))
        self.assertEqual(points[4:6], [(4, 6.0), (5, 105.0)])

    def test_every_record_is_read(self) -> None:
        first, second = sorted(self.folder.iterdir())
        loader = event_file_loader.RawEventFileLoader
        self.assertEqual(len(list(loader(str(first)).Load())), 2 + 9 + 3 + 3)
        self.assertEqual(len(list(loader(str(second)).Load())), 2 + 3)

    def test_odd_tags_values_and_steps_arrive(self) -> None:
        first = min(self.folder.iterdir())
        run = event_accumulator.EventAccumulator(str(first))
        run.Reload()
        infinite, undefined = run.Scalars("odd/größe")
        self.assertEqual(infinite.value, math.inf)
        self.assertTrue(math.isnan(undefined.value))
        (far,) = run.Scalars("odd/far")
        self.assertEqual(far.step, 1 << 40)
        self.assertAlmostEqual(far.value, 1e-30, delta=1e-36)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
