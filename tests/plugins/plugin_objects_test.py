"""Plugin objects: columns of `kubectl get plugins`, conditions, watches; and the metrics by plugin."""
import glob
import json
import os
import shutil
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from harness import PLUGINS, Server, kubectls, main, wait_for  # pylint: disable=wrong-import-position

BUILDS = os.environ['BUILDS']
OBJECTS = '/apis/plugins.backplane.dev/v1alpha1/plugins'
GADGETS = OBJECTS + '/gadgets.test.example.com'
TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}


class PluginObjects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='backplane-objects-')
        for path in glob.glob(os.path.join(PLUGINS, '*.so')):
            os.symlink(path, os.path.join(cls.folder, os.path.basename(path)))
        shutil.copy(os.path.join(BUILDS, 'gadgets_one.so'), os.path.join(cls.folder, 'gadgets.so'))
        with open(os.path.join(cls.folder, 'text.so'), 'w', encoding='utf-8') as f:
            f.write('not a plugin')
        cls.server = Server('--runtime-config=plugins.backplane.dev/v1alpha1=true', '--disable-plugin=batch', plugin_dir=cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.folder)

    def get(self, path, **more):
        code, _, body = self.server.request('GET', path, **more)
        self.assertEqual(code, 200, body)
        return body

    def act(self, action, **body):
        code, _, answer = self.server.request('POST', '/plugins/' + action, dict(body, name='test.example.com/gadgets'))
        return code, answer

    @staticmethod
    def conditions(plugin):
        return {each['type']: (each['status'], each['reason']) for each in plugin['status']['conditions']}

    def test_every_plugin_has_an_object_with_what_was_found(self):
        found = {each['metadata']['name']: each for each in self.get(OBJECTS)['items']}
        self.assertLessEqual({'core', 'apps', 'rbac', 'batch', 'gadgets.test.example.com', 'text'}, {name.split('.so')[0] for name in found})
        core = found['core']
        self.assertEqual((core['status']['state'], core['status']['build'], core['status']['inTree']), ('Committed', 1, True))
        self.assertIn('v1', core['status']['groupVersions'])
        self.assertEqual(self.conditions(core), {'Loaded': ('True', 'Running'), 'Ready': ('True', 'Started')})
        self.assertEqual(self.conditions(found['batch']), {'Loaded': ('False', 'Disabled'), 'Ready': ('False', 'NotLoaded')})
        text = next(each for name, each in found.items() if name.startswith('text'))
        self.assertEqual(self.conditions(text)['Loaded'], ('False', 'Rejected'))
        self.assertIn('PLG-FILE-006', text['status']['conditions'][0]['message'])
        self.assertEqual(found['gadgets.test.example.com']['status']['plugin'], 'test.example.com/gadgets')

    def test_they_are_read_only_and_described(self):
        resources = {each['name']: each for each in self.get('/apis/plugins.backplane.dev/v1alpha1')['resources']}
        self.assertEqual(resources['plugins']['verbs'], ['get', 'list', 'watch'])
        self.assertFalse(resources['plugins']['namespaced'])
        for method, path in (('POST', OBJECTS), ('PUT', GADGETS), ('DELETE', GADGETS), ('DELETE', OBJECTS)):
            self.assertEqual(self.server.request(method, path, {'kind': 'Plugin', 'apiVersion': 'plugins.backplane.dev/v1alpha1'})[0], 405)
        self.assertEqual(self.server.request('GET', OBJECTS + '/absent')[0], 404)
        schemas = self.get('/openapi/v3/apis/plugins.backplane.dev/v1alpha1')['components']['schemas']
        self.assertIn('dev.backplane.plugins.v1alpha1.Plugin', schemas)
        self.assertEqual(self.server.request('GET', OBJECTS, headers={'Impersonate-User': 'jane'})[0], 403)

    def test_a_table_shows_the_chain(self):
        table = self.get(OBJECTS, headers=TABLE)
        self.assertEqual([each['name'] for each in table['columnDefinitions'] if each['priority'] == 0], ['Name', 'Version', 'State', 'Placement', 'Groups', 'Age'])
        row = next(row['cells'] for row in table['rows'] if row['cells'][0] == 'apps')
        self.assertEqual(row[2:5], ['Committed', 'in-process', 'apps/v1'])
        selected = self.get(OBJECTS + '?fieldSelector=metadata.name%3Dapps')
        self.assertEqual([each['metadata']['name'] for each in selected['items']], ['apps'])
        self.assertEqual(self.server.request('GET', OBJECTS + '?fieldSelector=status.state%3Dx')[0], 400)

    def test_a_watch_reports_changes_and_refused_changes(self):
        before = self.get(GADGETS)
        revision = self.get(OBJECTS)['metadata']['resourceVersion']
        events = []
        watcher = threading.Thread(target=lambda: events.extend(self.server.events(OBJECTS + '?watch=true&resourceVersion=' + revision, 2)))
        watcher.start()
        self.assertEqual(self.act('upgrade', file=os.path.join(BUILDS, 'gadgets_fails_in_validate.so'))[0], 400)
        self.assertEqual(self.conditions(self.get(GADGETS))['Changed'], ('False', 'Refused'))
        self.assertEqual(self.act('upgrade', file=os.path.join(BUILDS, 'gadgets_two.so'))[0], 200)
        watcher.join()
        self.assertEqual([event['type'] for event in events], ['MODIFIED', 'MODIFIED'])
        self.assertEqual(events[1]['object'], self.get(GADGETS))
        after = self.get(GADGETS)
        self.assertEqual(after['metadata']['uid'], before['metadata']['uid'])
        self.assertEqual((after['status']['build'], self.conditions(after)['Changed']), (before['status']['build'] + 1, ('True', 'Replaced')))
        code, _, status = self.server.request('GET', OBJECTS + '?watch=true&resourceVersion=1')
        self.assertEqual((code, status['reason']) if code != 200 else (410, status['object']['reason']), (410, 'Expired'))

    def test_the_condition_changed_is_of_the_last_operation(self):
        for action, reason, words in (('reload', 'Replaced', 'replaced the former one'), ('disable', 'Disabled', 'was disabled'),
                                      ('enable', 'Enabled', 'was enabled'), ('reload', 'Replaced', 'replaced the former one')):
            self.assertEqual(self.act(action)[0], 200)
            found = self.get(GADGETS)
            self.assertEqual(self.conditions(found)['Changed'], ('True', reason))
            self.assertIn(words, next(each['message'] for each in found['status']['conditions'] if each['type'] == 'Changed'))

    def test_a_list_can_be_streamed(self):
        count = len(self.get(OBJECTS)['items'])
        path = OBJECTS + '?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
        events = self.server.events(path, count + 1)
        self.assertEqual({event['type'] for event in events[:-1]}, {'ADDED'})
        self.assertEqual(events[-1]['type'], 'BOOKMARK')
        self.assertEqual(events[-1]['object']['metadata']['annotations'], {'k8s.io/initial-events-end': 'true'})

    def test_metrics_have_the_plugin(self):
        self.get('/apis/apps/v1/deployments')

        def shown():
            text = self.get('/metrics')
            return 'backplane_plugin_requests_total{code="200",plugin="apps"}' in text.replace('plugin="apps",code="200"', 'code="200",plugin="apps"') and text
        text = wait_for(shown)
        self.assertTrue(text)
        for line in ('backplane_plugin_info{plugin="core",state="Committed",version=', 'backplane_plugin_info{plugin="batch",state="Disabled",version=',
                     'backplane_plugin_threads{plugin="core"}', 'backplane_plugin_cpu_seconds_total{plugin="core"}', 'backplane_plugin_mapped_bytes{plugin="core"}', 'backplane_plugin_open_watches{plugin="core"}',
                     'backplane_plugin_request_duration_seconds_count{plugin="apps"}', 'backplane_plugin_build{plugin="apps"} 1'):
            self.assertIn(line, text)

    @unittest.skipUnless(kubectls(), 'no kubectl')
    def test_kubectl_shows_them(self):
        shown = self.server.kubectl(kubectls()[0], 'get', 'plugins')
        self.assertEqual(shown.splitlines()[0].split(), ['NAME', 'VERSION', 'STATE', 'PLACEMENT', 'GROUPS', 'AGE'])
        self.assertRegex(shown, r'(?m)^apps +1\.36\.0 +Committed +in-process +apps/v1 ')
        self.assertIn('Disabled', self.server.kubectl(kubectls()[0], 'get', 'plugin', 'batch', '-o', 'wide'))
        self.assertEqual(json.loads(self.server.kubectl(kubectls()[0], 'get', 'plugin', 'core', '-o', 'json'))['status']['state'], 'Committed')


class NotByDefault(unittest.TestCase):
    def test_an_alpha_version_is_served_if_it_is_enabled(self):
        with Server() as server:
            self.assertEqual(server.request('GET', OBJECTS)[0], 404)
            self.assertNotIn('plugins.backplane.dev', json.dumps(server.request('GET', '/apis')[2]))
            names = [each['name'] for each in server.request('GET', '/debug/plugins')[2]['plugins']]
            self.assertIn('core', names)


if __name__ == '__main__':
    main()
