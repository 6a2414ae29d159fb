"""The packages of scripts/package in a clean Debian root: installed, started by the unit's command, upgraded, removed and purged.

Needs root, debootstrap and Debian's mirror.  The root is made once and kept in the build directory.  BACKPLANE_PACKAGES: a directory with
packages to test, instead of those that scripts/package makes of the build."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../e2e'))
import harness  # noqa: E402

SOURCE = os.path.join(HERE, '../..')
BUILD = os.environ.get('BACKPLANE_BUILD', os.path.join(SOURCE, 'build'))
SUITE = 'bookworm'
CONFIGMAPS = '/api/v1/namespaces/default/configmaps'


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, **options)


def unmet():
    """Why the test cannot run here; empty: it can."""
    if os.geteuid() != 0:
        return 'needs root, for chroot'
    for tool in ('debootstrap', 'dpkg-deb', 'dpkg-shlibdeps', 'unshare', 'cmake'):
        if not shutil.which(tool):
            return tool + ' is not installed'
    if run('unshare', '--mount', 'true').returncode != 0:
        return 'no mount namespaces'
    return ''


def clean_root():
    """An archive of a minimal Debian; made by debootstrap when there is none yet."""
    folder = os.path.join(BUILD, 'package')
    os.makedirs(folder, exist_ok=True)
    archive = os.path.join(folder, SUITE + '.tar')
    if not os.path.exists(archive):
        made = tempfile.mkdtemp(prefix='root-', dir=folder)
        try:
            done = run('debootstrap', '--variant=minbase', SUITE, made)
            if done.returncode != 0:
                raise unittest.SkipTest('debootstrap: %s' % (done.stdout + done.stderr).strip()[-200:])
            os.chmod(made, 0o755)  # mkdtemp() makes a directory that the unit's user could not search as its root
            subprocess.run(['tar', '-C', made, '-cf', archive + '.partial', '.'], check=True)
            os.rename(archive + '.partial', archive)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return archive


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if unmet():
            raise unittest.SkipTest(unmet())
        archive = clean_root()
        cls.dir = tempfile.mkdtemp(prefix='backplane-package-')
        cls.addClassCleanup(shutil.rmtree, cls.dir, True)
        cls.dist = os.environ.get('BACKPLANE_PACKAGES') or cls.make_packages()
        cls.root = os.path.join(cls.dir, 'root')
        os.mkdir(cls.root)
        subprocess.run(['tar', '-C', cls.root, '-xf', archive], check=True)
        # A root that is removed again need not be durable.
        pathlib.Path(cls.root, 'etc/dpkg/dpkg.cfg.d/unsafe-io').write_text('force-unsafe-io\n', encoding='utf-8')

    @classmethod
    def make_packages(cls):
        dist = os.path.join(cls.dir, 'dist')
        done = run(os.path.join(SOURCE, 'scripts/package'), env=dict(os.environ, BUILD_DIR=BUILD, DIST_DIR=dist))
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return dist

    def setUp(self):
        self.port = harness.free_port()
        self.process = None
        self.addCleanup(self.stop)

    def path(self, name):
        return os.path.join(self.root, name.lstrip('/'))

    # A separate mount namespace: its mounts disappear when the command ends.
    INSIDE = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && root=$1 && shift && exec chroot "$root" "$@"'

    def inside(self, *command):
        return ['unshare', '--mount', 'sh', '-c', self.INSIDE, 'sh', self.root, *command]

    def do(self, *command, code=0, **options):
        # BACKPLANE and BACKPLANE_PLUGINS are files of the build, which the root does not have.
        clean = ('env', '-u', 'BACKPLANE', '-u', 'BACKPLANE_PLUGINS', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C')
        done = run(*self.inside(*clean, *command), **options)
        self.assertEqual(done.returncode, code, '%s\n%s%s' % (' '.join(command), done.stdout[-3000:], done.stderr[-3000:]))
        return done.stdout

    def files(self):
        """What a package manager leaves alone."""
        found = set()
        for top in ('etc', 'usr', 'lib', 'opt', 'var/lib', 'srv', 'root', 'home'):
            for folder, _, names in os.walk(self.path(top)):
                found |= {os.path.relpath(os.path.join(folder, name), self.root) for name in names}
        return {name for name in found if not name.startswith(('var/lib/dpkg/', 'var/lib/apt/', 'var/lib/systemd/', 'etc/passwd', 'etc/group', 'etc/shadow',
                                                              'etc/gshadow', 'etc/subuid', 'etc/subgid', 'etc/ld.so.cache'))}

    def start(self):
        """The unit's command, as the unit's user, with the directory that systemd makes for it."""
        unit = pathlib.Path(self.path('/usr/lib/systemd/system/backplane.service')).read_text(encoding='utf-8')
        command = re.search(r'^ExecStart=(.*)$', unit, re.M)[1]
        user = re.search(r'^User=(.*)$', unit, re.M)[1]
        state = '/var/lib/' + re.search(r'^StateDirectory=(.*)$', unit, re.M)[1]
        self.do('install', '-d', '-m', '0700', '-o', user, '-g', user, state)
        defaults = pathlib.Path(self.path('/etc/default/backplane')).read_text(encoding='utf-8')
        flags = re.search(r'^BACKPLANE_FLAGS=(.*)$', defaults, re.M)[1]
        words = shlex.split(command.replace('$BACKPLANE_FLAGS', flags))
        self.log = open(os.path.join(self.dir, 'log'), 'wb')
        script = self.INSIDE.replace('exec chroot', 'exec chroot --userspec=%s:%s' % (user, user))
        self.process = subprocess.Popen(['unshare', '--mount', 'sh', '-c', script, 'sh', self.root, *words], stdout=self.log, stderr=self.log)
        self.assertTrue(harness.wait_for(lambda: 'export KUBECONFIG=' in self.text() or self.process.poll() is not None), self.text())
        self.assertIsNone(self.process.poll(), self.text())

    def text(self):
        return pathlib.Path(self.dir, 'log').read_text(encoding='utf-8')

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.assertEqual(self.process.wait(60), 0, self.text())
            self.log.close()
        self.process = None

    def client(self):
        """Requests with the administrator's kubeconfig."""
        client = harness.Server.__new__(harness.Server)
        client.kubeconfig = self.path('/var/lib/backplane/admin.kubeconfig')
        client.read_kubeconfig()
        self.assertEqual(client.port, self.port)
        return client

    def package(self, name):
        path, = pathlib.Path(self.dist).glob(name + '_*.deb')
        return str(path)

    def copy_in(self, path):
        shutil.copy(path, self.path('/tmp'))
        return '/tmp/' + os.path.basename(path)

    def newer(self):
        """The same package with the next version."""
        content = os.path.join(self.dir, 'newer')
        subprocess.run(['dpkg-deb', '-R', self.package('backplane'), content], check=True)
        control = pathlib.Path(content, 'DEBIAN/control')
        control.write_text(re.sub(r'^(Version: .*)$', r'\1+1', control.read_text(encoding='utf-8'), flags=re.M), encoding='utf-8')
        path = os.path.join(self.dir, 'backplane_newer.deb')
        subprocess.run(['dpkg-deb', '--root-owner-group', '-Zgzip', '-z1', '-b', content, path], check=True, capture_output=True)
        return path

    def test_from_installation_to_purge(self):
        before = self.files()
        done = run(*self.inside('apt-get', 'update', '-qq'))
        if done.returncode != 0:
            self.skipTest("Debian's mirror cannot be reached: " + done.stderr[-200:])
        shutil.copy('/etc/resolv.conf', self.path('/etc/resolv.conf'))
        first = self.copy_in(self.package('backplane'))
        self.do('apt-get', 'install', '-qq', '--no-install-recommends', first)
        defaults = self.path('/etc/default/backplane')
        pathlib.Path(defaults).write_text('BACKPLANE_FLAGS="--secure-port=%d"\n' % self.port, encoding='utf-8')
        self.do('backplane', '--version')
        for page in ('/usr/share/man/man8/backplane.8.gz', '/usr/share/bash-completion/completions/backplane', '/usr/lib/systemd/system/backplane.socket'):
            self.assertTrue(os.path.exists(self.path(page)), page)

        self.start()
        client = self.client()
        self.assertIn('default', [item['metadata']['name'] for item in client.request('GET', '/api/v1/namespaces')[2]['items']])
        self.assertEqual(client.request('POST', CONFIGMAPS, harness.configmap('kept', a='b'))[0], 201)
        self.assertIn('ok       store', self.do('backplane', 'doctor', '--data-dir=/var/lib/backplane'))
        self.do('backplane', 'store', 'snapshot', '--data-dir', '/var/lib/backplane', '-o', '/tmp/store.snapshot')

        # An upgrade replaces the files of the running server, which keeps running; systemd restarts it.
        second = self.copy_in(self.newer())
        self.do('apt-get', 'install', '-qq', second)
        self.assertEqual(client.request('GET', CONFIGMAPS + '/kept')[0], 200)
        self.assertIn('--secure-port', pathlib.Path(defaults).read_text(encoding='utf-8'))
        self.stop()
        # Commands that root runs create no files that the service cannot open.
        self.do('backplane', 'store', 'check', '--data-dir', '/var/lib/backplane')
        self.do('backplane', 'doctor', '--data-dir=/var/lib/backplane', '--secure-port=%d' % self.port)
        self.start()
        self.assertEqual(self.client().request('GET', CONFIGMAPS + '/kept')[2]['data'], {'a': 'b'})
        self.stop()
        self.do('rm', '-rf', '/var/lib/backplane/rocksdb')
        self.do('backplane', 'store', 'restore', '/tmp/store.snapshot', '--data-dir', '/var/lib/backplane')
        self.start()
        self.assertEqual(self.client().request('GET', CONFIGMAPS + '/kept')[0], 200)
        self.stop()

        sdk = self.copy_in(self.package('backplane-plugin-sdk'))
        self.assertIn('backplane/plugin.hpp', self.do('dpkg-deb', '-c', sdk))
        self.do('apt-get', 'remove', '-qq', 'backplane')
        self.assertFalse(os.path.exists(self.path('/usr/bin/backplane')))
        self.assertTrue(os.path.exists(self.path('/var/lib/backplane/rocksdb/CURRENT')), 'removal keeps the store')
        self.assertTrue(os.path.exists(defaults))
        self.do('apt-get', 'purge', '-qq', 'backplane')
        self.assertFalse(os.path.exists(self.path('/var/lib/backplane')))
        self.assertNotIn('backplane:', pathlib.Path(self.path('/etc/passwd')).read_text(encoding='utf-8'))
        self.do('apt-get', 'autoremove', '-qq', '--purge')
        left = {name for name in self.files() - before if 'backplane' in name}
        self.assertEqual(left, set())


if __name__ == '__main__':
    harness.main()
