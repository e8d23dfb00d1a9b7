"""The training commands as processes: train, compare, sample, report, data.

usage: train_test.py BCOS
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

from train_runs import TrainTest, environment, lines_of, run


class Train(TrainTest):
    def test_a_run_leaves_everything_in_its_folder(self) -> None:
        page = self.fine(*self.tiny("a"))
        for words in ("AdamW keeps", "settings", "val loss", "tok/s", "report.html"):
            self.assertIn(words, page)
        folder = self.runs / "a"
        for name in ("config.toml", "run.json", "metrics.jsonl", "report.html"):
            self.assertTrue((folder / name).stat().st_size > 0, name)
        self.assertEqual(len(list(folder.glob("events.out.tfevents.*"))), 1)
        lines = lines_of(folder / "metrics.jsonl")
        self.assertEqual([x["s"] for x in lines if "trl" in x], list(range(30)))
        self.assertEqual([x["s"] for x in lines if "tel" in x], [0, 10, 20, 30])
        facts = json.loads((folder / "run.json").read_text())
        self.assertEqual(facts["state_bytes"] * 2, facts["adamw_state_bytes"])
        self.assertEqual(facts["outcome"], "finished")

    def test_a_finished_run_is_not_run_again(self) -> None:
        self.fine(*self.tiny("a"))
        before = (self.runs / "a/metrics.jsonl").read_text()
        self.assertIn("nothing to do", self.fine(*self.tiny("a")))
        self.assertEqual((self.runs / "a/metrics.jsonl").read_text(), before)
        self.fine(*self.tiny("a", "--fresh"))
        self.assertTrue((self.runs / "a.old-1/metrics.jsonl").exists())
        self.refused(1, "/no/such.txt", *self.tiny("a", "--fresh", "--data", "/no/such.txt"))
        self.refused(1, "/no/such.st", *self.tiny("a", "--fresh", "--init-from", "/no/such.st"))
        self.assertFalse((self.runs / "a.old-2").exists())

    def test_other_settings_need_another_name(self) -> None:
        self.fine(*self.tiny("a"))
        self.refused(2, "width = '16'", *self.tiny("a", "--width", "32"))

    def test_the_settings_as_used_give_the_same_run(self) -> None:
        self.fine(*self.tiny("a"))
        self.fine("train", "--config", self.runs / "a/config.toml", "--name", "b")
        self.assertEqual(self.last_weights("a"), self.last_weights("b"))

    def test_flags_win_over_the_file_and_the_file_over_the_preset(self) -> None:
        config = self.folder / "c.toml"
        config.write_text('preset = "demo"\nlayers = 3\nsteps = 9\nwarmup = 0\n')
        with_file = ["--config", str(config), "--data", str(self.text), "--out", str(self.runs)]
        self.fine("train", *with_file, "--steps", "2", "--width", "16", "--name", "a")
        used = (self.runs / "a/config.toml").read_text()
        for line in ("layers = 3", "steps = 2", "width = 16", 'activation = "relu"'):
            self.assertIn(f"\n{line}\n", used)

    def test_quiet_prints_nothing(self) -> None:
        self.assertEqual(self.fine(*self.tiny("a", "-q")), "")

    def test_a_killed_run_goes_on(self) -> None:
        self.fine(*self.tiny("whole", "--steps", "300", "-q"))
        arguments = self.tiny("cut", "--steps", "300")
        self.kill_in_the_middle(arguments)
        self.assertIn("goes on from step", self.fine(*arguments))
        self.assertEqual(self.last_weights("whole"), self.last_weights("cut"))

    def test_a_damaged_checkpoint_is_passed_over(self) -> None:
        self.kill_in_the_middle(self.tiny("a", "--steps", "300"))
        newest = sorted((self.runs / "a/checkpoints").glob("step-*"))[-1]
        weights = bytearray((newest / "model.safetensors").read_bytes())
        weights[-5] ^= 1
        (newest / "model.safetensors").write_bytes(weights)
        page = self.fine(*self.tiny("a", "--steps", "300"))
        self.assertIn(newest.name, page)
        self.assertIn("goes on from step", page)

    def test_the_best_and_the_last_checkpoints_are_kept(self) -> None:
        other = self.folder / "other.txt"
        other.write_text("".join(f"{i * 7 % 91} otherwise\n" for i in range(300)))
        words = ("--val", str(other), "--lr", "0.01", "--steps", "200", "--keep", "1")
        self.fine(*self.tiny("a", *words, "-q"))
        seen = {x["s"]: x["tel"] for x in lines_of(self.runs / "a/metrics.jsonl") if "tel" in x}
        best = min(seen, key=lambda step: seen[step])
        self.assertTrue(0 < best < 200, seen)  # another text gets worse in the end
        kept = sorted(path.name for path in (self.runs / "a/checkpoints").glob("step-*"))
        self.assertEqual(kept, [f"step-{best:08}", "step-00000200"])

    def test_two_processes_cannot_have_one_run(self) -> None:
        first = self.training(self.tiny("a", "--steps", "100000"))
        self.refused(1, f"process {first.pid}", *self.tiny("a", "--steps", "100000"))

    def test_torch_waits_passively(self) -> None:
        bare = {k: v for k, v in environment().items() if k != "OMP_WAIT_POLICY"}
        process = self.training(self.tiny("a", "--steps", "100000"), env=bare)
        said = Path(f"/proc/{process.pid}/environ").read_bytes()
        self.assertIn(b"OMP_WAIT_POLICY=passive", said)

    def test_divergence_has_its_own_code(self) -> None:
        result = run(*self.tiny("a", "--lr", "1e38", "--clip", "0", "--warmup", "0"))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("lower --lr", result.stderr)

    def test_checkpoints_are_as_many_as_were_asked_for(self) -> None:
        self.fine(*self.tiny("a", "--checkpoint-every", "1000", "-q"))
        kept = sorted(path.name for path in (self.runs / "a/checkpoints").glob("step-*"))
        self.assertEqual(kept, ["step-00000030"])

    def test_a_start_that_fails_leaves_nothing(self) -> None:
        self.refused(1, "/no/such.txt", *self.tiny("a", "--data", "/no/such.txt"))
        self.assertFalse(self.runs.exists())

    def test_a_run_that_goes_on_with_other_threads_says_so_and_keeps_its_beginning(self) -> None:
        self.kill_in_the_middle(self.tiny("a", "--steps", "300"))
        facts = self.runs / "a/run.json"
        started = json.loads(facts.read_text())["started"]
        page = self.fine(*self.tiny("a", "--steps", "300", "--threads", "2"))
        self.assertIn("goes on with 2 threads after 1", page)
        now = json.loads(facts.read_text())
        self.assertEqual(now["started"], started)
        self.assertGreater(now["seconds"], 0)
        self.assertEqual([entry["threads"] for entry in now["numerics"]], [1, 2])
        self.assertGreater(now["numerics"][1]["step"], 0)

    def test_a_closed_pipe_and_a_hang_up_save_the_run(self) -> None:
        for name, leave in (
            ("pipe", lambda process: process.stdout.close()),
            ("hup", lambda process: process.send_signal(signal.SIGHUP)),
        ):
            process = self.training(self.tiny(name, "--steps", "100000"))
            leave(process)
            process.wait(timeout=60)
            facts = json.loads((self.runs / name / "run.json").read_text())
            self.assertEqual(facts["outcome"], "interrupted", name)
            self.assertTrue(list((self.runs / name / "checkpoints").glob("step-*")), name)

    def test_a_hang_up_that_is_ignored_stays_so(self) -> None:
        process = self.training(
            self.tiny("a", "--steps", "100000"),
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )
        process.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=1)

    def test_the_last_of_two_words_for_one_thing_counts(self) -> None:
        self.refused(
            2, "only one of lr and adamw_lr", *self.tiny("a", "--lr", "1", "--adamw-lr", "1")
        )
        config = self.folder / "c.toml"
        config.write_text("adamw_lr = 0.004\n")
        self.fine(*self.tiny("a", "--config", str(config), "--lr", "0.5", "-q"))
        used = (self.runs / "a/config.toml").read_text()
        self.assertIn("\nlr = 0.5\n", used)
        self.assertNotIn("adamw_lr", used)

    def test_a_run_is_extended_where_its_past_agrees(self) -> None:
        constant = ("--schedule", "constant", "-q", "--steps")
        self.fine(*self.tiny("whole", *constant, "50"))
        self.fine(*self.tiny("a", *constant, "30"))
        self.fine(*self.tiny("a", *constant, "50"))
        self.assertEqual(self.last_weights("a"), self.last_weights("whole"))
        last = [x["tel"] for x in lines_of(self.runs / "a/metrics.jsonl") if x["s"] == 50]
        self.assertEqual(
            last, [x["tel"] for x in lines_of(self.runs / "whole/metrics.jsonl") if x["s"] == 50]
        )
        self.fine(*self.tiny("b", "-q"))
        self.refused(2, "--branch", *self.tiny("b", "--steps", "60"))

    def test_a_branch_goes_on_from_a_checkpoint(self) -> None:
        constant = ("--schedule", "constant", "-q", "--keep", "9")
        self.fine(*self.tiny("whole", *constant, "--steps", "50"))
        self.fine(*self.tiny("a", *constant))
        from_a = ("--branch", f"{self.runs}/a@20")
        self.fine(*self.tiny("straight", *constant, "--steps", "50", *from_a))
        self.assertEqual(self.last_weights("straight"), self.last_weights("whole"))
        steps = [x["s"] for x in lines_of(self.runs / "straight/metrics.jsonl") if "trl" in x]
        self.assertEqual(steps, list(range(50)))
        self.assertNotIn("branched", json.loads((self.runs / "straight/run.json").read_text()))
        self.fine(*self.tiny("other", *constant, "--lr", "0.01", *from_a))
        facts = json.loads((self.runs / "other/run.json").read_text())
        self.assertEqual(facts["branched"]["step"], 20)
        self.assertNotEqual(self.last_weights("other"), self.last_weights("a"))
        self.refused(1, "step-00000010", *self.tiny("b", "--branch", f"{self.runs}/a@15"))
        self.refused(2, "RUN@STEP", *self.tiny("b", "--branch", f"{self.runs}/a@x"))
        self.refused(1, "another width", *self.tiny("b", "--width", "8", *from_a))
        self.assertFalse((self.runs / "b").exists())

    def test_the_page_is_there_while_a_run_trains(self) -> None:
        self.training(self.tiny("a", "--steps", "100000"))
        page = self.runs / "a/report.html"
        deadline = time.monotonic() + 30
        while not page.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertIn("running at step", page.read_text())

    def test_one_preset_is_enough(self) -> None:
        self.fine(*self.tiny("a", "-q"))
        config = str(self.runs / "a/config.toml")
        self.refused(
            2, "one preset", "train", "--preset", "gpt-char", "--config", config, "--name", "b"
        )

    def test_a_folder_of_runs_is_no_run(self) -> None:
        self.fine(*self.tiny("a", "-q"))
        self.refused(2, "there are runs in it", *self.tiny("runs", "--out", str(self.folder)))

    def test_wrong_use_is_named(self) -> None:
        self.refused(2, "only one of --resume and --fresh", *self.tiny("a", "--resume", "--fresh"))
        self.refused(2, "without '/'", *self.tiny("../../x"))
        self.refused(2, "did you mean '--warmup'?", "train", "--warmpu", "3")
        self.refused(2, "steps as a whole number", "train", "--steps", "many")
        self.refused(2, "did you mean 'demo'?", "train", "--preset", "dmo")
        self.refused(2, "did you mean 'bcosw_c'?", *self.tiny("a", "--method", "bcosw_cc"))
        self.refused(1, "/no/such/file", *self.tiny("a", "--val", "/no/such/file"))
        self.refused(1, "/no/such.txt", *self.tiny("a", "--data", "/no/such.txt"))
        self.refused(1, "there is none in", *self.tiny("new", "--resume"))
        self.assertFalse((self.runs / "new").exists())
        config = self.folder / "wrong.toml"
        config.write_text("stepz = 3\n")
        self.refused(2, "did you mean 'steps'?", "train", "--config", config)
        self.refused(2, "total_batch", *self.tiny("b", "--total-batch", "100"))

    def test_a_folder_that_cannot_be_written_is_named(self) -> None:
        blocked = self.folder / "file"
        blocked.write_text("")
        self.refused(1, str(blocked), *self.tiny("a", "--out", str(blocked)))

    def test_a_full_disk_is_said_with_the_path(self) -> None:
        def little_room() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))

        result = run(*self.tiny("a"), limit=little_room)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(str(self.runs / "a"), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_a_text_cut_while_training_is_an_error(self) -> None:
        tokens = self.folder / "tokens.bin"
        tokens.write_bytes(bytes(2 * 200_000))
        files = ("--format", "tokens", "--data", str(tokens), "--val", str(tokens))
        process = self.training(self.tiny("a", "--steps", "100000", *files))
        os.truncate(tokens, 1000)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn(b"tokens.bin", errors)


def tensors_of(path: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    return {name: tensor.astype("float64") for name, tensor in load_file(path).items()}


class Diagnose(TrainTest):
    def found(self, name: str, kind: str) -> dict[tuple[int, str], dict[str, Any]]:
        lines = lines_of(self.runs / name / "metrics.jsonl")
        return {(x["s"], x["group"]): x for x in lines if x.get("kind") == kind}

    def test_only_looks_and_finds_what_the_checkpoints_say(self) -> None:
        import numpy as np

        often = ("--checkpoint-every", "1", "--keep", "100", "--clip", "0")
        self.fine(*self.tiny("plain", "-q", *often))
        page = self.fine(
            *self.tiny("a", "--diagnose", "aiming,signal", "--diagnose-every", "6", *often)
        )
        self.assertEqual(self.last_weights("plain"), self.last_weights("a"))
        self.assertRegex(page, r"diagnosis: 5 steps of \d+ kB each are kept in .*/a/diagnosis")
        self.assertFalse((self.runs / "a/diagnosis").exists())

        aiming = self.found("a", "aiming")
        self.assertEqual(sorted({s for s, _ in aiming}), [0, 6, 12, 18, 24])
        groups = {group for _, group in aiming}
        self.assertEqual(groups, {"all", "embeddings", "attention", "mlp", "vectors"})

        def at(step: int, file: str) -> dict[str, Any]:
            return tensors_of(self.runs / f"a/checkpoints/step-{step:08}/{file}.safetensors")

        # Step 12 from what was saved before and after it, and the last weights.
        x, last = at(12, "model"), at(30, "model")
        m_old, m_new = at(12, "optimizer"), at(13, "optimizer")
        beta = 0.9
        flat: dict[str, list[Any]] = {key: [] for key in ("e", "g", "m", "d", "step", "margin")}
        for name in x:
            old, new = m_old[f"m/{name}"].ravel(), m_new[f"m/{name}"].ravel()
            g = (new - beta * old) / (1 - beta)
            v = beta**2 * (2 - beta**2) * old**2 + (1 - beta) ** 2 * (g + beta * old) ** 2
            d = new / np.sqrt(v + 1e-12)
            decay = 0.1 if x[name].ndim >= 2 else 0.0
            e = (x[name] - last[name]).ravel()
            flat["e"].append(e)
            flat["g"].append(g)
            flat["m"].append(new)
            flat["d"].append(d)
            flat["step"].append(d + decay * x[name].ravel())
            flat["margin"].append(e * (d + decay * last[name].ravel()))
        whole = {key: np.concatenate(parts) for key, parts in flat.items()}
        e = whole["e"]
        line = aiming[12, "all"]
        for key in ("g", "m", "d", "step"):
            w = whole[key]
            cosine = e @ w / np.sqrt((e @ e) * (w @ w))
            self.assertAlmostEqual(line[f"cos_{key}"], cosine, delta=2e-4)
        self.assertAlmostEqual(line["margin"] / whole["margin"].sum(), 1, delta=1e-3)
        self.assertAlmostEqual(line["distance"], np.sqrt(e @ e), delta=1e-6)

        # What pure noise would give, from the lengths of the steps alone.
        lengths = []
        for step in range(12, 30):
            before, after = at(step, "model"), at(step + 1, "model")
            lengths.append(np.sqrt(sum(((after[n] - before[n]) ** 2).sum() for n in before)))
        powers = beta ** np.abs(np.subtract.outer(np.arange(18), np.arange(18)))
        a = np.array(lengths)
        null = (a @ powers[0]) / np.sqrt(a @ powers @ a)
        for key in ("g", "m", "d", "step"):
            w, own = whole[key], whole["step"]
            part = w @ own / np.sqrt((w @ w) * (own @ own))
            self.assertAlmostEqual(line[f"null_{key}"], part * null, delta=2e-4)

        signal = self.found("a", "signal")[24, "all"]
        self.assertTrue(0 <= signal["rho"] <= signal["raw"] <= 1)
        self.assertTrue(0 < signal["amp_mean"] < signal["amp_max"] <= signal["amp_bound"] + 1e-5)
        report = (self.runs / "a/report.html").read_text()
        self.assertIn('"aiming":{"all":{"cos_d"', report)

    def test_survives_a_kill_to_the_last_digit(self) -> None:
        wanted = ("--diagnose", "aiming,signal", "--diagnose-every", "20", "--steps", "300")
        self.fine(*self.tiny("whole", "-q", *wanted))
        self.kill_in_the_middle(self.tiny("cut", *wanted))
        self.assertTrue(list((self.runs / "cut/diagnosis").glob("step-*")))
        self.fine(*self.tiny("cut", *wanted))
        for kind in ("aiming", "signal"):
            self.assertEqual(self.found("whole", kind), self.found("cut", kind))
        self.assertEqual(self.last_weights("whole"), self.last_weights("cut"))

    def test_may_begin_in_the_middle_and_says_so(self) -> None:
        self.kill_in_the_middle(self.tiny("a", "--steps", "300"))
        page = self.fine(*self.tiny("a", "--steps", "300", "--diagnose", "signal"))
        self.assertRegex(page, r"diagnosis: signal begins at step \d+")

    def test_aims_at_another_run(self) -> None:
        self.fine(*self.tiny("far", "--seed", "1", "-q"))
        far = str(self.runs / "far")
        self.fine(*self.tiny("a", "-q", "--diagnose", "aiming", "--diagnose-ref", far))
        line = self.found("a", "aiming")[0, "all"]
        self.assertNotIn("null_step", line)
        self.assertTrue(line["distance"] > 0)
        same = self.fine(
            *self.tiny(
                "b", "--beta", "0.8", "--seed", "1", "--diagnose", "aiming", "--diagnose-ref", far
            )
        )
        self.assertIn("take a run with another --seed", same)

    def test_wrong_use_is_named(self) -> None:
        aiming = ("--diagnose", "aiming", "--diagnose-ref")
        self.refused(2, "did you mean 'signal'?", *self.tiny("a", "--diagnose", "aiming,signl"))
        self.refused(2, "diagnose_ref", *self.tiny("a", "--diagnose-ref", "runs/a"))
        self.refused(1, "'/no/such' has none", *self.tiny("a", *aiming, "/no/such"))
        self.assertFalse((self.runs / "a/config.toml").exists())
        self.fine(*self.tiny("narrow", "--width", "8", "-q"))
        narrow = str(self.runs / "narrow")
        self.refused(1, "of the same model", *self.tiny("a", *aiming, narrow))
        self.refused(2, "is finished", *self.tiny("narrow", "--width", "8", "--diagnose", "signal"))


class Compare(TrainTest):
    def grid(self, *more: str) -> list[str]:
        return ["compare", *more, *self.settings("grid", more)]

    def test_a_grid_ends_in_a_table_and_a_page(self) -> None:
        page = self.fine(*self.grid("--seeds", "0,1", "--jobs", "2"))
        for words in ("adamw", "bcosw_c", "[4/4]", "state", "report.html"):
            self.assertIn(words, page)
        self.assertEqual(page.rstrip().splitlines()[-1], f"see {self.runs}/grid/report.html")
        self.assertTrue((self.runs / "grid/report.html").exists())
        again = self.fine(*self.grid("--seeds", "0,1", "--jobs", "2"))
        self.assertEqual(again.count("finished before"), 4)

    def cell(self, start: str) -> Path:
        [config] = (self.runs / "grid").glob(f"{start}*/config.toml")
        return config.parent

    def table(self, page: str) -> list[str]:
        """The rows of the table, without times."""
        rows = [line for line in page.splitlines() if line.startswith(("adamw", "bcosw_c"))]
        return sorted(re.sub(r"\d+(\.\d+)? +\d+\.\d %", "", row) for row in rows[:-1])

    def test_a_cell_that_fails_is_named_and_the_others_run(self) -> None:
        result = run(*self.grid("--methods", "adamw:lr=1e38:clip=0:warmup=0,bcosw_c"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            result.stderr, r"first adamw-lr1e\+38-\w+-s0 \(diverged after step \d+ of 30\)"
        )
        self.assertTrue((self.cell("bcosw_c") / "report.html").exists())
        self.assertIn("1 of 1 diverged", result.stdout)

    def test_each_cell_is_shown_as_what_it_is_and_only_whole_ones_are_averaged(self) -> None:
        self.fine(*self.grid("--seeds", "0-4", "--methods", "bcosw_c", "-q"))
        runs = {path.name[-1]: path for path in (self.runs / "grid").glob("bcosw_c*-s?")}
        whole = self.fine("report", runs["0"])

        def outcome(seed: str, said: str) -> None:
            facts = json.loads((runs[seed] / "run.json").read_text())
            (runs[seed] / "run.json").write_text(json.dumps({**facts, "outcome": said}))

        outcome("1", "diverged")
        outcome("2", "interrupted")
        (runs["3"] / "run.json").write_text('{"name":')
        outcome("4", "running")  # killed
        page = self.fine("report", self.runs / "grid")
        for words in ("1 of 5 diverged", "2 of 5 interrupted", "1 of 5 damaged"):
            self.assertIn(words, page)
        self.assertNotIn("±", page)
        self.assertIn("ended at a validation loss", whole)
        outcome("1", "finished")
        [row] = [
            x
            for x in self.fine("report", self.runs / "grid").splitlines()
            if "damaged" in x and "bcosw_c " in x
        ]
        self.assertIn(" ± ", row)
        self.assertRegex(row, r"bcosw_c +0.0005 +2 ")

    def test_a_cell_without_its_last_evaluation_is_not_finished(self) -> None:
        self.fine(*self.grid("--methods", "bcosw_c", "-q"))
        metrics = self.cell("bcosw_c") / "metrics.jsonl"
        lines = [x for x in metrics.read_text().splitlines() if '"s":30,"tel"' not in x]
        metrics.write_text("\n".join(lines) + "\n")
        self.assertIn("interrupted at step 30 of 30", self.fine("report", metrics.parent))
        again = self.fine(*self.grid("--methods", "bcosw_c"))
        self.assertNotIn("finished before", again)
        self.assertIn('"s":30,"tel"', metrics.read_text())

    def test_variants_of_a_method_are_groups_of_their_own(self) -> None:
        page = self.fine(*self.grid("--methods", "bcosw_c,bcosw_c:beta=0.8", "-q"))
        page = self.fine("report", self.runs / "grid")
        self.assertRegex(page, r"bcosw_c, beta 0.9 +0.0005 +1 ")
        self.assertRegex(page, r"bcosw_c, beta 0.8 +0.0005 +1 ")
        page = self.fine(*self.grid("--name", "b", "--vary", "weight_decay=.01,.1"))
        self.assertEqual(
            len(re.findall(r"^(?:adamw|bcosw_c), lambda 0\.\d+ +0\.", page, re.M)), 4, page
        )
        self.assertIn("alpha x lambda", page)

    def test_all_methods_decay_alike_unless_decay_is_compared(self) -> None:
        page = self.fine(*self.grid("--jobs", "1"))
        self.assertNotIn("alpha x lambda", page)
        self.assertIn("decay_rate = ", (self.cell("bcosw_c") / "config.toml").read_text())

    def test_order_parts_and_kills_give_the_same_table(self) -> None:
        grid = ("--seeds", "0,1", "--vary", "beta=.8,.9", "--name")
        whole = self.table(self.fine(*self.grid(*grid, "whole")))
        self.assertEqual(len(whole), 4)
        other = ("--seeds", "1,0", "--vary", "beta=.9,.8", "--methods", "bcosw_c,adamw", "--name")
        self.assertEqual(self.table(self.fine(*self.grid(*other, "other"))), whole)
        first = ("--seeds", "1", "--vary", "beta=.9", "--methods", "adamw")
        self.fine(*self.grid(*first, "--name", "parts", "-q"))
        arguments = self.grid(*grid, "parts", "--jobs", "1")
        process = self.training(arguments, until=b"[3/8]")
        process.kill()
        process.wait()
        deadline = time.monotonic() + 30
        page = run(*arguments)
        while page.returncode != 0 and time.monotonic() < deadline:
            page = run(*arguments)  # the children save and go
        self.assertIn("finished before", page.stdout)
        self.assertEqual(self.table(page.stdout), whole)

    def test_a_grid_that_grows_ends_with_the_best_inside(self) -> None:
        page = self.fine(*self.grid("--grow", "lr", "--seeds", "1,2", "--methods", "bcosw_c"))
        again = self.fine(*self.grid("--grow", "lr", "--seeds", "1,2", "--methods", "bcosw_c"))
        self.assertNotIn("done", again.replace("finished before", ""))
        self.assertEqual(self.table(page), self.table(again))
        self.assertIn("best", page)
        self.assertEqual(
            json.loads((self.runs / "grid/compare.json").read_text()), {"choosing_seed": 0}
        )

    def test_conflicts_are_found_before_anything_starts(self) -> None:
        self.fine(*self.grid("-q"))
        path = self.cell("bcosw_c")
        config = path / "config.toml"
        config.write_text(config.read_text().replace("width = 16", "width = 8"))
        self.refused(2, "width = '8'", *self.grid("--seeds", "0,1"))
        self.assertEqual(len(list((self.runs / "grid").glob("*-s1"))), 0)

    def test_the_file_of_a_cell_gives_the_comparison_again(self) -> None:
        self.fine(*self.grid("-q"))
        config = str(self.cell("adamw") / "config.toml")
        again = self.fine("compare", "--config", config, "--out", str(self.runs), "--name", "grid")
        self.assertEqual(again.count("finished before"), 2)
        self.refused(
            2,
            "but it is a run",
            *self.grid("--name", self.cell("adamw").name, "--out", str(self.runs / "grid")),
        )

    def test_a_killed_comparison_leaves_no_child_behind(self) -> None:
        process = self.training(self.grid("--steps", "100000", "--jobs", "1"), until=b"step    21/")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 30
        while Path(f"/proc/{children[0]}").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        [cell] = (self.runs / "grid").glob("adamw*/run.json")
        self.assertEqual(json.loads(cell.read_text())["outcome"], "interrupted")

    def test_ctrl_c_saves_what_runs(self) -> None:
        process = self.training(
            self.grid("--steps", "100000", "--jobs", "1"),
            until=b"step    21/",
            start_new_session=True,
        )
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        rest, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (130, b""))
        self.assertIn(b"the same command goes on", rest)
        cell = self.cell("adamw")
        self.assertEqual(json.loads((cell / "run.json").read_text())["outcome"], "interrupted")
        self.assertTrue(list((cell / "checkpoints").glob("step-*")))

    def test_runs_that_cannot_begin_say_why(self) -> None:
        result = run(*self.grid("--data", "/no/such.txt"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such.txt", result.stderr)
        self.assertIn("2 of 2 did not", result.stderr)

    def test_wrong_grids_are_refused_before_anything_runs(self) -> None:
        self.refused(2, "--lrs", *self.grid("--lrs", "a,b"))
        self.refused(2, "--seeds", *self.grid("--seeds", "0.5"))
        self.refused(2, "different seeds", *self.grid("--seeds", "0,0"))
        self.refused(2, "did you mean 'beta'", *self.grid("--vary", "beat=.8,.9"))
        many = ",".join(str(0.001 * k) for k in range(1, 600))
        self.refused(2, "received 1198", *self.grid("--lrs", many))
        self.refused(2, "but received 'bcosw_d'", *self.grid("--methods", "adamw,bcosw_d"))
        self.assertFalse(self.runs.exists())


def write_bpe(folder: Path, merges: list[str]) -> None:
    """GPT-2's two files with these merges alone."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in plain}
    for byte in range(256):
        letters.setdefault(byte, chr(256 + len(letters) - len(plain)))
    pieces = [letters[byte] for byte in (*plain, *(b for b in range(256) if b not in plain))]
    pieces += [merge.replace(" ", "") for merge in merges] + ["<|endoftext|>"]
    folder.mkdir()
    (folder / "encoder.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    (folder / "vocab.bpe").write_text("\n".join(["#version: 0.2", *merges, ""]))


class After(TrainTest):
    def test_text_becomes_token_files_that_train(self) -> None:
        bpe = self.folder / "bpe"
        write_bpe(bpe, ["l i", "li n", "lin e"])
        prefix = self.folder / "tokens"
        page = self.fine("data", "tokenize", self.text, "--bpe", bpe, "--out", prefix)
        self.assertIn(f"wrote {prefix}_train.bin", page)
        self.assertIn("llm.c", self.fine("data", "info", f"{prefix}_train.bin"))
        files = ("--data", f"{prefix}_train.bin", "--val", f"{prefix}_val.bin", "--format")
        self.fine(*self.tiny("a", *files, "tokens", "--vocab-size", "260", "-q"))
        words = ["sample", self.runs / "a", "--bpe", bpe, "--prompt", "line", "--count", "5"]
        self.assertTrue(self.fine(*words).startswith("line"))

    def test_sample_report_and_data(self) -> None:
        self.fine(*self.tiny("a"))
        run_folder = self.runs / "a"
        words = ["sample", run_folder, "--prompt", "line", "--count", "30"]
        text = self.fine(*words)
        self.assertTrue(text.startswith("line"))
        self.assertEqual(self.fine(*words), text)
        self.refused(1, "has none", "sample", self.folder)
        self.refused(2, "--temperature", *words, "--temperature", "-1")
        (run_folder / "report.html").unlink()
        self.assertIn("report.html", self.fine("report", run_folder))
        self.assertTrue((run_folder / "report.html").exists())
        self.refused(1, "'/no/such'", "report", "/no/such")
        self.assertIn("bytes", self.fine("data", "info", self.text))
        self.refused(2, "--bpe", "data", "tokenize", self.text)
        self.refused(1, "/no/such", "data", "info", "/no/such")

    def test_a_damaged_best_checkpoint_is_named(self) -> None:
        self.fine(*self.tiny("a", "--keep", "3", "-q"))
        newest = sorted((self.runs / "a/checkpoints").glob("step-*"))[-1]
        weights = bytearray((newest / "model.safetensors").read_bytes())
        weights[-5] ^= 1
        (newest / "model.safetensors").write_bytes(weights)
        result = run("sample", self.runs / "a", "--count", "3")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, rf"{newest.name}.*is taken instead\n\Z")

    def test_a_gpt_without_biases_is_written_for_others(self) -> None:
        self.fine(*self.tiny("a", "--bias", "no", "--activation", "relu", "-q"))
        file = self.folder / "gpt2.safetensors"
        said = self.fine("sample", self.runs / "a", "--export", file)
        config = json.loads(said[said.index("{") :])
        self.assertEqual((config["activation_function"], config["n_layer"]), ("relu", 1))
        more = ("--bias", "yes", "--activation", "relu", "--init-from", str(file))
        self.fine(*self.tiny("b", *more, "-q"))
        last = [x["tel"] for x in lines_of(self.runs / "a/metrics.jsonl") if "tel" in x][-1]
        first = [x["tel"] for x in lines_of(self.runs / "b/metrics.jsonl") if "tel" in x][0]
        self.assertAlmostEqual(first, last, delta=1e-5)

    def test_a_report_counts_each_run_once(self) -> None:
        self.fine(*self.tiny("a", "-q"))
        self.fine(*self.tiny("a", "-q", "--fresh"))
        self.assertTrue((self.runs / "a.old-1/put-aside").exists())
        shutil.copytree(self.runs / "a", self.runs / "b")
        (self.runs / "b/metrics.jsonl").unlink()
        twice = run("report", self.runs / "a", f"{self.runs}/./a")
        self.assertIn("is given twice and counts once", twice.stderr)
        self.assertIn("ended at a validation loss", twice.stdout)
        whole = run("report", self.runs, "--out", self.folder / "page.html")
        self.assertRegex(whole.stdout, r"1 of 2 interrupted")

    def test_cut_lines_of_metrics_are_left_out_and_counted(self) -> None:
        self.fine(*self.tiny("a", "-q"))
        metrics = self.runs / "a/metrics.jsonl"
        lines = metrics.read_text().splitlines()
        lines[4] = lines[4][:10]
        metrics.write_text("\n".join(lines) + "\n")
        self.assertIn(
            "One line of its metrics could not be read", self.fine("report", self.runs / "a")
        )

    def test_the_checkpoint_opens_in_python(self) -> None:
        from safetensors.numpy import load_file

        self.fine(*self.tiny("a"))
        newest = sorted((self.runs / "a/checkpoints").glob("step-*"))[-1]
        weights = load_file(newest / "model.safetensors")
        self.assertEqual(weights["wte.weight"].shape, (256, 16))
        self.assertIn("m/wte.weight", load_file(newest / "optimizer.safetensors"))


if __name__ == "__main__":
    unittest.main()
