"""Kubernetes' Go clients (client-go, controller-runtime) against the built server: the checks of the program in the folder go."""
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
import harness  # noqa: E402
import clients  # noqa: E402

SECONDS = 300  # generous: without a line for this time, the program hangs
LEAST = 64     # checks; fewer mean that the program has ended early


class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.program = clients.build_checks()
        except clients.Missing as why:
            raise unittest.SkipTest('the Go clients cannot be built: %s' % why)
        cls.folder = tempfile.mkdtemp(prefix='backplane-checks-')
        cls.flags = ('--secure-port', str(harness.free_port()), '--feature-gates=CBORServingAndStorage=true')
        cls.server = harness.Server(*cls.flags, data_dir=cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def restart(self):
        self.server.kill()
        self.server.stop()
        type(self).server = harness.Server(*self.flags, '--etcd-compaction-interval=1s', data_dir=self.folder)

    def lines(self, process):
        """Lines of the program as they come, until it ends."""
        lines = queue.Queue()

        def read():
            for line in process.stdout:
                lines.put(line.rstrip('\n'))
            lines.put(None)
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        yield from iter(lambda: lines.get(timeout=SECONDS), None)
        reader.join()

    def test_every_check_holds(self):
        held, failed = 0, []
        with tempfile.TemporaryFile('w+', errors='replace') as noise, subprocess.Popen(
                [self.program, self.server.kubeconfig], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise, text=True) as process:
            try:
                for line in self.lines(process):
                    if line == 'RESTART':
                        self.restart()
                        process.stdin.write('\n')
                        process.stdin.flush()
                        continue
                    print(line, flush=True)
                    held += line.startswith('ok ')
                    failed += [line] if line.startswith('FAIL ') else []
            except queue.Empty:
                self.fail('no line for %d seconds behind %d checks' % (SECONDS, held))
            finally:
                process.kill()
            noise.seek(0)
            said = noise.read()[-3000:]
        self.assertEqual(failed, [], said)
        self.assertGreaterEqual(held, LEAST, said)


if __name__ == '__main__':
    harness.main()
