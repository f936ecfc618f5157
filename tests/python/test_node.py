"""Hosts that are started from Python share a run."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy
import rubato
from support import Centre, main, quadratic, root

own_algorithm = os.path.join(root, "python", "examples", "own_algorithm.py")


def own_address():
    """Of the loopback network, one for each process: no other program takes a port of it."""
    process = os.getpid()
    return f"127.{1 + process // 62500 % 250}.{1 + process // 250 % 250}.{1 + process % 250}"


def free_ports(count):
    """Of the own address."""
    with contextlib.ExitStack() as sockets:
        held = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind((own_address(), 0))
        return [each.getsockname()[1] for each in held]


def shared(hosts=3, **keys):
    """Six clients, dealt to the hosts."""
    names = [chr(ord("a") + i) for i in range(hosts)]
    roster = [{"name": name, "address": f"tcp://{own_address()}:{port}", "clients": list(range(6))[i::hosts]}
              for i, (name, port) in enumerate(zip(names, free_ports(hosts)))]
    return names, quadratic(clients={"count": 6}, roster=roster, hosts={"wait": 60.0}, **keys)


def run_on(names, experiment, folder, **how):
    """What node() returned or raised at each host."""
    ended = {}

    def one(name):
        try:
            ended[name] = rubato.node(experiment, host=name, threads=1, out=os.path.join(folder, name), **how)
        except Exception as error:  # noqa: the test looks at it
            ended[name] = error

    threads = [threading.Thread(target=one, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


class Failing(Centre):
    """Client 3 fails."""

    def __init__(self, client=0):
        super().__init__(client)
        self.client = client

    def gradient(self, x, rows):
        if self.client == 3:
            raise ValueError("no gradient today")
        return super().gradient(x, rows)


class Hosts(unittest.TestCase):
    def test_lead_to_the_digests_of_one_process(self):
        names, experiment = shared()
        alone = rubato.run(experiment.copy({"roster": []}), on_note=None)
        with tempfile.TemporaryDirectory() as folder:
            ended = run_on(names, experiment, folder)
            for result in ended.values():
                self.assertEqual(result.model_digest, alone.model_digest)
                self.assertEqual(result.timeline_digest, alone.timeline_digest)
            numpy.testing.assert_array_equal(ended[names[0]].samples["loss_mean"], alone.samples["loss_mean"])  # of the roster's first

    def test_know_algorithms_of_the_modules_that_the_environment_names(self):
        names, experiment = shared(2, algorithm={"name": "draco", "self_apply": True})
        alone = rubato.run(experiment.copy({"roster": []}), on_note=None)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", f"import runpy; runpy.run_path({own_algorithm!r}); import rubato; "
                            f"rubato.Experiment({experiment.to_dict()!r}).copy({{'algorithm.name': 'my_draco'}}).save('{folder}/mine.toml')"],
                           check=True)
            os.environ["RUBATO_PYTHON_MODULES"] = own_algorithm
            self.addCleanup(os.environ.pop, "RUBATO_PYTHON_MODULES")
            for result in run_on(names, os.path.join(folder, "mine.toml"), folder).values():
                if isinstance(result, Exception):
                    raise result
                self.assertEqual(result.model_digest, alone.model_digest)

    def test_learn_what_a_learner_in_python_says(self):
        names, experiment = shared(2)
        alone = rubato.run(experiment.copy({"roster": []}), learner=Centre, on_note=None)
        with tempfile.TemporaryDirectory() as folder:
            for result in run_on(names, experiment, folder, learner=Centre).values():
                if isinstance(result, Exception):
                    raise result
                self.assertEqual(result.model_digest, alone.model_digest)
                self.assertEqual(result.timeline_digest, alone.timeline_digest)

    def test_in_real_time_with_a_learner_in_python_have_records_that_replay(self):
        names, experiment = shared(2, clock="wall", until=40.0, time_scale=20.0)
        place = os.path.join(root, "tests", "python", "support.py") + ":Centre"
        with tempfile.TemporaryDirectory() as folder:
            for result in run_on(names, experiment, folder, learner=place).values():
                if isinstance(result, Exception):
                    raise result
                self.assertGreater(result.summary["computations"], 0)
            again = subprocess.run([sys.executable, "-m", "rubato", "replay", *(os.path.join(folder, name) for name in names),
                                    "--learner", place], capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)

    def test_name_the_client_whose_learner_fails(self):
        names, experiment = shared(2)
        with tempfile.TemporaryDirectory() as folder:
            for failure in run_on(names, experiment, folder, learner=Failing).values():
                self.assertIsInstance(failure, rubato.RunFailed)
                self.assertRegex(str(failure), "client 3")

    def test_look_at_no_data_of_an_experiment_whose_clients_have_learners(self):
        names, experiment = shared(1)
        del experiment.data, experiment.model
        with tempfile.TemporaryDirectory() as folder:
            for result in run_on(names, experiment, folder, learner=Centre).values():
                if isinstance(result, Exception):
                    raise result
                self.assertGreater(result.summary["computations"], 0)

    def test_hand_on_what_the_file_of_a_learner_raises(self):
        names, experiment = shared(1)
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "own.py")
            with open(place, "w", encoding="utf-8") as file:
                file.write("rows = open('/there/is/no/such.csv')\n")
            with self.assertRaisesRegex(rubato.RunFailed, "No such file or directory: '/there/is/no/such.csv'"):
                rubato.node(experiment, host=names[0], learner=place + ":Own")

    def test_refuse_a_learner_that_no_file_has(self):
        names, experiment = shared(1)
        with self.assertRaisesRegex(TypeError, "by its file and name"):
            rubato.node(experiment, host=names[0], learner=lambda client: Centre(client))
        with self.assertRaisesRegex(rubato.InvalidExperiment, "there is no such file or name"):
            rubato.node(experiment, host=names[0], learner=__file__ + ":Nothing")

    def test_in_real_time_have_their_results_when_ctrl_c_ends_them(self):
        names, experiment = shared(1, clock="wall", until=600.0)
        with tempfile.TemporaryDirectory() as folder:
            timer = threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            result = rubato.node(experiment, host=names[0], out=os.path.join(folder, "a"))
            timer.join()
            self.assertTrue(result.was_stopped)
            self.assertGreater(result.summary["computations"], 0)

    def test_refuse_what_the_command_refuses(self):
        _, experiment = shared(2)
        with self.assertRaisesRegex(rubato.InvalidExperiment, 'there is no host "d" in the roster; there are: a, b'):
            rubato.node(experiment, host="d")

    def test_find_keys_beside_the_file_of_their_experiment(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["RUBATO_COMMAND"], "keygen", "a", "--out", folder], check=True, stdout=subprocess.DEVNULL)
            names, experiment = shared(1, until=1.0)
            experiment.roster = [{**experiment.roster[0], "public_key": "0" * 40}]
            file = os.path.join(folder, "run.toml")
            experiment.save(file)
            with self.assertRaisesRegex((rubato.InvalidExperiment, rubato.RunFailed), 'is not the other half of the public key of "a"'):
                rubato.node(rubato.Experiment(file), host=names[0])


if __name__ == "__main__":
    main()
