"""The Python and the JavaScript client against the built server: the checks of the programs in the folders python and javascript.

The test fetches each client into a separate folder; if that fails its test is skipped with the reason."""
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../e2e'))
import harness  # noqa: E402
import clients  # noqa: E402

PYTHON = os.path.join(clients.BUILD_DIR, 'python')
JAVASCRIPT = os.path.join(clients.BUILD_DIR, 'javascript')


def fetch(command, folder=None):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise clients.Missing(str(error)) from None
    if done.returncode != 0:
        raise clients.Missing((done.stdout + done.stderr).strip()[-300:])


def python():
    interpreter = os.path.join(PYTHON, 'bin', 'python')
    if not os.path.exists(os.path.join(PYTHON, 'fetched')):
        os.makedirs(PYTHON, exist_ok=True)
        fetch([sys.executable, '-m', 'venv', PYTHON])
        fetch([interpreter, '-m', 'pip', 'install', '-q', 'kubernetes'])
        open(os.path.join(PYTHON, 'fetched'), 'w').close()
    return [interpreter, '-B', os.path.join(HERE, 'python', 'checks.py')]


def javascript():
    if not shutil.which('node') or not shutil.which('npm'):
        raise clients.Missing('node and npm are not installed')
    os.makedirs(JAVASCRIPT, exist_ok=True)
    for name in ('package.json', 'checks.mjs'):
        shutil.copy(os.path.join(HERE, 'javascript', name), JAVASCRIPT)
    if not os.path.exists(os.path.join(JAVASCRIPT, 'node_modules', '@kubernetes')):
        fetch(['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts'], JAVASCRIPT)
    return ['node', os.path.join(JAVASCRIPT, 'checks.mjs')]


class Languages(unittest.TestCase):
    def checks(self, get, least):
        try:
            command = get()
        except clients.Missing as why:
            self.skipTest('the %s client cannot be had: %s' % (get.__name__, why))
        with harness.Server() as server:
            done = subprocess.run([*command, server.kubeconfig], capture_output=True, text=True, timeout=600)
        print(done.stdout, flush=True)
        lines = done.stdout.splitlines()
        self.assertEqual([line for line in lines if not line.startswith('ok ')], [], done.stderr[-3000:])
        self.assertGreaterEqual(len(lines), least, done.stderr[-3000:])
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def test_python(self):
        self.checks(python, 15)

    def test_javascript(self):
        self.checks(javascript, 11)


if __name__ == '__main__':
    harness.main()
