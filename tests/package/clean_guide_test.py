"""The stable tier by its guide in a clean Debian root: the server, the SDK's tree, gcc and g++, neither Boost nor cmake. The examples in C and C++ are built by
the commands of docs/stable-tier.md, checked, served and used, and tested with backplane/testing/host.hpp.

Needs what package_test.py needs, whose root and packages it uses."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import package_test  # noqa: E402  pylint: disable=wrong-import-position
from package_test import harness, run  # noqa: E402  pylint: disable=wrong-import-position

PAGE = pathlib.Path(package_test.SOURCE, 'docs/stable-tier.md')
SHELVES = '/apis/stock.example.com/v1/namespaces/default/shelves'
BOXES = '/apis/stock.example.com/v1/namespaces/default/boxes'


def commands():
    """The lines of the page's `sh` blocks, for an installation in /usr: {compiler: [lines]}."""
    blocks = re.findall(r'^```sh\n(.*?)^```', PAGE.read_text(encoding='utf-8'), re.M | re.S)
    return {block.split()[0]: block.replace('PREFIX', '/usr').splitlines() for block in blocks if block.split()[0] in ('gcc', 'g++')}


class CleanGuide(package_test.Package):
    test_from_installation_to_purge = None  # package_test.py runs it

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls('test_in_cpp')
        done = run(*case.inside('apt-get', 'update', '-qq'))
        if done.returncode != 0:
            raise unittest.SkipTest("Debian's mirror cannot be reached: " + done.stderr[-200:])
        server = case.copy_in(case.package('backplane'))
        case.do('apt-get', 'install', '-qq', '--no-install-recommends', server, 'gcc', 'g++', 'libc6-dev')
        # Only the source tree: the package's dependencies are for the native tier.
        case.do('dpkg-deb', '-x', case.copy_in(case.package('backplane-plugin-sdk')), '/')

    def example(self, name):
        """Its folder in the root."""
        folder = '/srv/' + name
        self.do('cp', '-r', '/usr/share/doc/backplane-plugin-sdk/examples/' + name, folder)
        return folder

    def in_folder(self, folder, command, code=0):
        return self.do('sh', '-c', 'cd "$1" && ' + command, 'sh', folder, code=code)

    def serve(self, folder):
        """The server that the page's last command starts, with a store in memory."""
        command, = (line for line in commands()['gcc'] if line.startswith('backplane --plugin-dir'))
        out = open(os.path.join(self.dir, 'served-' + os.path.basename(folder)), 'wb')
        self.addCleanup(out.close)
        script = self.INSIDE.replace('exec chroot', 'cd / && exec chroot')
        served = subprocess.Popen(['unshare', '--mount', 'sh', '-c', script, 'sh', self.root, 'sh', '-c', 'cd %s && exec %s --throwaway' % (folder, command)],
                                  stdout=out, stderr=out)

        def end():
            if served.poll() is None:
                served.terminate()
                served.wait(60)
        self.addCleanup(end)

        def text():
            return pathlib.Path(out.name).read_text(encoding='utf-8')
        self.assertTrue(harness.wait_for(lambda: 'export KUBECONFIG=' in text() or served.poll() is not None), text())
        self.assertIsNone(served.poll(), text())
        client = harness.Server.__new__(harness.Server)
        client.kubeconfig = self.path(re.search(r'export KUBECONFIG=(\S+)', text())[1])
        client.read_kubeconfig()
        return client

    def use(self, client):
        def thing(kind, name, **spec):
            return {'apiVersion': 'stock.example.com/v1', 'kind': kind, 'metadata': {'name': name}, 'spec': spec}

        def boxes():
            return client.request('GET', SHELVES + '/north')[2].get('status', {}).get('boxes')
        self.assertEqual(client.request('POST', SHELVES, thing('Shelf', 'full', slots=3, reserved=5))[0], 422)
        self.assertEqual(client.request('POST', BOXES, thing('Box', 'lost', shelf='nowhere'))[0], 403)
        self.assertEqual(client.request('POST', SHELVES, thing('Shelf', 'north', slots=3))[0], 201)
        self.assertTrue(harness.wait_for(lambda: boxes() == 0))
        self.assertEqual(client.request('POST', BOXES, thing('Box', 'first', shelf='north'))[0], 201)
        self.assertTrue(harness.wait_for(lambda: boxes() == 1))
        self.assertEqual(client.request('GET', BOXES + '/first')[2]['metadata']['labels'], {'shelf': 'north'})

    def build_check_and_serve(self, example, compiler):
        self.do('sh', '-c', '! command -v cmake && test ! -e /usr/include/boost')
        folder = self.example(example)
        build, = (line for line in commands()[compiler] if line.startswith(compiler + ' '))
        self.in_folder(folder, build)
        self.in_folder(folder, 'backplane plugin check stock.so')
        shown = json.loads(self.in_folder(folder, 'backplane plugin inspect stock.so -o json'))
        self.assertEqual(shown['stamp'], {'stable': '1'})
        self.use(self.serve(folder))
        return folder

    def test_in_c(self):
        folder = self.build_check_and_serve('stable-c', 'gcc')
        self.in_folder(folder, """gcc -std=c11 -D 'BACKPLANE_PLUGIN_FILE="./stock.so"' -o stock_test stock_test.c -lbackplane-testing && ./stock_test""")

    def test_in_cpp(self):
        folder = self.build_check_and_serve('stable-cpp', 'g++')
        self.in_folder(folder, """g++ -std=c++20 -D 'BACKPLANE_PLUGIN_FILE="./stock.so"' -o stock_test stock_test.cpp -lbackplane-testing && ./stock_test""")

    def test_new_in_c(self):
        """The files of `plugin new` are built by the same command."""
        self.in_folder('/srv', 'backplane plugin new widgets --group widgets.example.com --kind Widget --tier=stable')
        self.in_folder('/srv/widgets', 'gcc -std=c11 -shared -fPIC -fvisibility=hidden -I . -o widgets.so plugin.c && backplane plugin check widgets.so')


if __name__ == '__main__':
    harness.main()
