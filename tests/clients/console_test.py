"""The console in Chromium, by playwright-core: chain, schema, live list, edit with a conflict, HTML as text, 10,000 objects, charts, rights, a
restart of the server, a user without rights; axe-core finds no serious problem on any page."""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../e2e'))
import harness  # noqa: E402
import clients  # noqa: E402

FOLDER = os.path.join(clients.BUILD_DIR, 'console')
MAPS = '/api/v1/namespaces/%s/configmaps'
HTML = '<img src=x onerror="window.wasRun = true">'
FLOWS = 12


def programs():
    """The browser, with the flows and their modules in FOLDER. Raises Missing."""
    browser = shutil.which('chromium') or shutil.which('google-chrome')
    if not browser or not shutil.which('node') or not shutil.which('npm'):
        raise clients.Missing('chromium, node and npm are not all installed')
    os.makedirs(FOLDER, exist_ok=True)
    for name in ('package.json', 'flows.mjs'):
        shutil.copy(os.path.join(HERE, 'console', name), FOLDER)
    if not os.path.exists(os.path.join(FOLDER, 'node_modules', 'axe-core')):
        done = subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts'], cwd=FOLDER, capture_output=True, text=True,
                              timeout=900, check=False)
        if done.returncode != 0:
            raise clients.Missing((done.stdout + done.stderr).strip()[-300:])
    return browser


def config_map(name, **data):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name}, 'data': data}


class Console(unittest.TestCase):
    def setUp(self):
        try:
            self.browser = programs()
        except clients.Missing as why:
            self.skipTest('the browser of the console test cannot be had: %s' % why)
        self.data = tempfile.mkdtemp(prefix='backplane-console-')
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        self.server = harness.Server(data_dir=self.data)
        self.addCleanup(lambda: self.server.stop())

    def post(self, path, body, connection=None):
        status, _, answer = self.server.request('POST', path, body, connection=connection)
        self.assertEqual(status, 201, answer)
        return answer

    def prepare(self):
        for name in ('flows', 'many'):
            self.post('/api/v1/namespaces', harness.namespace(name))
        self.post(MAPS % 'flows', config_map('edited', key='first'))
        made = self.post(MAPS % 'flows', config_map('html', key=HTML))
        self.post('/api/v1/namespaces/flows/events', {
            'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'html.1'}, 'message': HTML, 'reason': 'Tried', 'type': 'Normal',
            'involvedObject': {'kind': 'ConfigMap', 'namespace': 'flows', 'name': 'html', 'uid': made['metadata']['uid']}})
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(self.fill, range(8)))
        # The files of the page for clients without a certificate, which then sign in with a token.
        rbac = '/apis/rbac.authorization.k8s.io/v1/'
        self.post(rbac + 'clusterroles', {'metadata': {'name': 'console'}, 'rules': [{'nonResourceURLs': ['/console/*'], 'verbs': ['get']}]})
        self.post(rbac + 'clusterrolebindings', {
            'metadata': {'name': 'console'}, 'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': 'console'},
            'subjects': [{'kind': 'Group', 'apiGroup': 'rbac.authorization.k8s.io', 'name': 'system:unauthenticated'}]})
        account = {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'default'}}
        status, _, answer = self.server.request('POST', '/api/v1/namespaces/flows/serviceaccounts', account)
        self.assertIn(status, (201, 409), answer)
        return self.post('/api/v1/namespaces/flows/serviceaccounts/default/token', {
            'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {}})['status']['token']

    def fill(self, part):
        connection = self.server.connect()
        for number in range(part, 10000, 8):
            self.post(MAPS % 'many', config_map('m%d' % number), connection)
        connection.close()

    def act(self, action):
        """Executes an action that a flow requests."""
        verb, _, name = action.partition(' ')
        path = MAPS % 'flows'
        if verb == 'create':
            self.post(path, config_map(name))
        elif verb == 'delete':
            self.assertEqual(self.server.request('DELETE', path + '/' + name)[0], 200)
        elif verb == 'change':
            patch = {'Content-Type': 'application/merge-patch+json'}
            self.assertEqual(self.server.request('PATCH', path + '/' + name, {'data': {'key': 'third'}}, patch)[0], 200)
        elif verb == 'read':
            name, _, value = name.partition('=')
            self.assertEqual(self.server.request('GET', path + '/' + name)[2]['data'], {'key': value})
        else:
            port = self.server.port
            self.server.process.terminate()
            self.server.process.wait(60)
            self.server = harness.Server('--secure-port=%d' % port, data_dir=self.data)

    def test_flows(self):
        token = self.prepare()
        pki = os.path.join(self.data, 'data', 'pki')
        command = ['node', 'flows.mjs', 'https://127.0.0.1:%d' % self.server.port, os.path.join(pki, 'admin.crt'), os.path.join(pki, 'admin.key'),
                   token, self.browser, FOLDER]
        with open(os.path.join(FOLDER, 'errors'), 'w+', encoding='utf-8') as errors, subprocess.Popen(
                command, cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True) as flows:
            seen = []
            for line in flows.stdout:
                verb, _, rest = line.strip().partition(' ')
                if verb == 'do':
                    self.act(rest)
                    flows.stdin.write('done\n')
                    flows.stdin.flush()
                else:
                    print(line, end='', flush=True)
                    seen.append((verb, rest))
            flows.wait()
            errors.seek(0)
            self.assertEqual([each for each in seen if each[0] != 'ok'], [], errors.read()[-3000:])
            self.assertEqual(len(seen), FLOWS)


if __name__ == '__main__':
    harness.main()
