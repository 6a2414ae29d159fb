"""backplane-runner as a process of a test."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from harness import BINARY, PLUGINS, START_SECONDS  # noqa: E402

RUNNER = os.path.join(os.path.dirname(os.path.realpath(BINARY)), 'backplane-runner')


class Runner:
    """A runner with the data directory `folder`, which may have one already. It serves when it is constructed."""

    def __init__(self, folder, kubeconfig, *flags, wait=True):
        os.makedirs(folder, exist_ok=True)
        self.log_path = os.path.join(folder, 'log-%d' % time.monotonic_ns())
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen([RUNNER, '--kubeconfig', kubeconfig, '--data-dir', os.path.join(folder, 'data'), '--plugin-dir', PLUGINS,
                                             '--secure-port=0', '--service-external-name=localhost', *flags], stdout=log, stderr=subprocess.STDOUT)
        if wait:
            self.wait_serving()

    def wait_serving(self):
        deadline = time.monotonic() + START_SECONDS
        while 'export KUBECONFIG=' not in self.text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError('the runner does not serve:\n' + self.text())
            time.sleep(0.02)

    def text(self):
        with open(self.log_path, errors='replace', encoding='utf-8') as f:
            return f.read()

    def stop(self):
        """The exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(90)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def run_failing(*flags):
    """(exit code, output) of a runner that does not start."""
    done = subprocess.run([RUNNER, *flags], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr
