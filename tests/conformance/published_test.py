"""The published documents equal kube-apiserver 1.36's: OpenAPI v2 and v3 and discovery, legacy and aggregated, against the
documents that the Go module k8s.io/kubernetes carries, which are those of a server with every version and every gate on (skipped if the
module is not available). Descriptions differ. Other differences are in ALLOWED, with the reason."""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'e2e'), os.path.join(HERE, '..', 'clients')]
import clients  # noqa: E402
from harness import Server  # noqa: E402

# The flags with which upstream's server writes these files.
FLAGS = ('--runtime-config=api/all=true', '--feature-gates=AllAlpha=true,AllBeta=true,OpenAPIEnums=false', '--service-cluster-ip-range=10.0.0.0/24')
AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
NAMED = ('paths', 'schemas', 'definitions', 'properties', 'parameters', 'responses')  # their members are names, not words
# (prefix of a difference's path, reason)
ALLOWED = (('serverAddressByClientCIDRs/', 'the address of the server itself'),
           ('paths//logs/', '--enable-logs-handler is served and not described'),
           ('parameters/logpath-', '--enable-logs-handler is served and not described'))


def module():
    """The folder of k8s.io/kubernetes. Raises clients.Missing."""
    env = clients.module()
    reports = subprocess.run(['go', 'mod', 'download', '-json', 'k8s.io/kubernetes'], cwd=clients.BUILD_DIR, env=env, capture_output=True, text=True)
    folder = json.loads(reports.stdout).get('Dir') if reports.returncode == 0 else None
    if not folder or not os.path.isdir(os.path.join(folder, 'api')):
        raise clients.Missing('the module k8s.io/kubernetes cannot be had: ' + (reports.stderr or reports.stdout).strip()[-300:])
    return os.path.join(folder, 'api')


def differences(want, got, at=(), names=False):
    """[(path, upstream's value, the server's value)…], without descriptions.  `names`: members of this object are names, not words."""
    if isinstance(want, dict) and isinstance(got, dict):
        out = []
        for key in sorted({*want, *got}):
            if key == 'description' and not names:
                continue
            if key in want and key in got:
                out += differences(want[key], got[key], (*at, key), key in NAMED and not names)
            else:
                out.append(((*at, key), want.get(key), got.get(key)))
        return out
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [each for i, pair in enumerate(zip(want, got)) for each in differences(*pair, (*at, str(i)))]
    return [] if want == got and type(want) is type(got) else [(at, want, got)]


def reports(found):
    lines = ['/'.join(path) + ': upstream ' + json.dumps(want)[:160] + ', here ' + json.dumps(got)[:160] for path, want, got in found]
    return '%d differences\n%s' % (len(lines), '\n'.join(lines[:20]))


class Published(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        try:
            cls.folder = module()
        except clients.Missing as why:
            raise unittest.SkipTest('there is nothing to compare with: %s' % why) from None
        cls.server = Server(*FLAGS)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def expect(self, name, path, accept='application/json'):
        with open(os.path.join(self.folder, name), encoding='utf-8') as f:
            want = json.load(f)
        status, _, got = self.server.request('GET', path, headers={'Accept': accept})
        with self.subTest(path):
            self.assertEqual(status, 200, got)
            if 'info' in want:
                got['info']['version'] = want['info']['version']  # those files do not contain it
            found = [each for each in differences(want, got) if not any('/'.join(each[0]).startswith(begin) for begin, _ in ALLOWED)]
            if found:
                self.fail(reports(found))

    def files(self, folder):
        return sorted(os.listdir(os.path.join(self.folder, folder)))

    def test_openapi_v3(self):
        for name in self.files('openapi-spec/v3'):
            if name == 'logs_openapi.json':  # see ALLOWED
                continue
            self.expect('openapi-spec/v3/' + name, '/openapi/v3/' + name.removesuffix('_openapi.json').replace('__', '/'))

    def test_openapi_v2(self):
        self.expect('openapi-spec/swagger.json', '/openapi/v2')

    def test_discovery(self):
        for name in self.files('discovery'):
            if name != 'aggregated_v2.json':
                self.expect('discovery/' + name, '/' + name.removesuffix('.json').replace('__', '/'))

    def test_aggregated_discovery(self):
        self.expect('discovery/aggregated_v2.json', '/apis', AGGREGATED)


if __name__ == '__main__':
    unittest.main()
