"""Built-in kinds with several versions: events, which two groups share, and horizontal pod autoscalers."""
import json
import unittest

from harness import Served, Server, kubectls, main

CORE = '/api/v1/namespaces/default/events'
EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events'
HPAS = '/apis/autoscaling/%s/namespaces/default/horizontalpodautoscalers'
MERGE = {'Content-Type': 'application/merge-patch+json'}
TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}


def event(name, **members):
    return dict({'apiVersion': 'events.k8s.io/v1', 'kind': 'Event', 'metadata': {'name': name}, 'eventTime': '2020-01-01T00:00:00.123456Z',
                 'reportingController': 'example.com/ctl', 'reportingInstance': 'ctl-1', 'action': 'Start', 'reason': 'Ok', 'note': 'began',
                 'type': 'Normal', 'regarding': {'kind': 'Pod', 'name': 'p', 'namespace': 'default'}}, **members)


def legacy(name, **members):
    return dict({'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': name}, 'message': 'began', 'reason': 'Ok', 'type': 'Normal',
                 'involvedObject': {'kind': 'Pod', 'name': 'q', 'namespace': 'default'}, 'source': {'component': 'kubelet'}, 'count': 3,
                 'firstTimestamp': '2020-01-01T00:00:00Z', 'lastTimestamp': '2020-01-01T00:00:01Z'}, **members)


class Versions(Served, unittest.TestCase):
    def call(self, method, path, body=None, headers=None, code=200):
        got = self.server.request(method, path, body, headers=headers)
        self.assertEqual(got[0], code, got[2])
        return got[2]

    def test_an_event_is_the_same_in_both_groups(self):
        made = self.call('POST', EVENTS, event('new'), code=201)
        core = self.call('GET', CORE + '/new')
        self.assertEqual((core['apiVersion'], core['message'], core['reportingComponent'], core['involvedObject']['name']),
                         ('v1', 'began', 'example.com/ctl', 'p'))
        self.assertEqual(core['metadata'], made['metadata'])
        self.call('POST', CORE, legacy('old'), code=201)
        shown = self.call('GET', EVENTS + '/old')
        self.assertEqual((shown['note'], shown['regarding']['name'], shown['deprecatedSource'], shown['deprecatedCount'],
                          shown['deprecatedFirstTimestamp'], shown['deprecatedLastTimestamp'], shown['eventTime']),
                         ('began', 'q', {'component': 'kubelet'}, 3, '2020-01-01T00:00:00Z', '2020-01-01T00:00:01Z', None))
        self.assertEqual([e['apiVersion'] for e in self.call('GET', EVENTS)['items'] if 'apiVersion' in e], [])
        rows = [[row['cells'][i] for i in (1, 2, 3, 6)] for row in self.call('GET', EVENTS, headers=TABLE)['rows']]
        self.assertEqual(rows, [[row['cells'][i] for i in (1, 2, 3, 6)] for row in self.call('GET', CORE, headers=TABLE)['rows']])
        self.assertIn(['Normal', 'Ok', 'pod/p', 'began'], rows)

    def test_the_newer_group_is_strict_and_core_is_not(self):
        wrong = self.call('POST', EVENTS, event('wrong', type='Odd', deprecatedCount=1), code=422)
        self.assertEqual({c['field'] for c in wrong['details']['causes']}, {'type', 'count'})
        self.assertTrue(wrong['message'].startswith('Event "wrong" is invalid'), wrong['message'])
        self.call('POST', CORE, legacy('odd', type='Odd'), code=201)
        missing = self.call('POST', CORE, legacy('half', eventTime='2020-01-01T00:00:00.000000Z'), code=422)
        self.assertIn('reportingComponent', {c['field'] for c in missing['details']['causes']})
        self.call('POST', EVENTS, event('series'), code=201)
        self.assertEqual(self.call('PATCH', EVENTS + '/series', {'note': 'other'}, headers=MERGE, code=422)['details']['causes'][0]['field'], 'message')
        series = {'series': {'count': 2, 'lastObservedTime': '2020-01-01T00:00:01.000000Z'}}
        self.assertEqual(self.call('PATCH', EVENTS + '/series', series, headers=MERGE)['series'], series['series'])
        self.call('PATCH', CORE + '/series', {'message': 'other'}, headers=MERGE)
        self.assertEqual(self.call('GET', EVENTS + '/nobody', code=404)['message'], 'events.events.k8s.io "nobody" not found')

    def test_selectors_name_what_each_group_has(self):
        self.call('POST', CORE, legacy('selected', involvedObject={'kind': 'Node', 'name': 'n', 'namespace': 'default'}), code=201)
        for path, label in ((CORE, 'involvedObject.kind'), (EVENTS, 'regarding.kind')):
            got = self.call('GET', path + '?fieldSelector=' + label + '%3DNode')['items']
            self.assertEqual([e['metadata']['name'] for e in got], ['selected'])
        self.assertEqual(self.call('GET', EVENTS + '?fieldSelector=involvedObject.kind%3DNode', code=400)['message'],
                         'field label not supported: involvedObject.kind')

    def test_watches_of_both_groups_see_one_event(self):
        since = self.call('GET', CORE)['metadata']['resourceVersion']
        for name in ('seen', 'last'):
            self.call('POST', CORE, legacy(name), code=201)
        for path, member in ((CORE, 'message'), (EVENTS, 'note')):
            seen = self.server.events(path + '?watch=1&resourceVersion=' + since, 2)
            self.assertEqual([(each['type'], each['object']['metadata']['name'], each['object'][member]) for each in seen],
                             [('ADDED', 'seen', 'began'), ('ADDED', 'last', 'began')])

    def test_an_autoscaler_survives_a_client_of_v1(self):
        metrics = [{'type': 'Resource', 'resource': {'name': 'cpu', 'target': {'type': 'Utilization', 'averageUtilization': 70}}},
                   {'type': 'Pods', 'pods': {'metric': {'name': 'qps'}, 'target': {'type': 'AverageValue', 'averageValue': '10'}}}]
        hpa = {'apiVersion': 'autoscaling/v2', 'kind': 'HorizontalPodAutoscaler', 'metadata': {'name': 'h'},
               'spec': {'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'maxReplicas': 5, 'metrics': metrics,
                        'behavior': {'scaleDown': {'selectPolicy': 'Min'}}}}
        made = self.call('POST', HPAS % 'v2', hpa, code=201)
        self.assertEqual(made['spec']['behavior']['scaleUp']['selectPolicy'], 'Max')
        old = self.call('GET', HPAS % 'v1' + '/h')
        self.assertEqual(old['spec']['targetCPUUtilizationPercentage'], 70)
        self.assertEqual(json.loads(old['metadata']['annotations']['autoscaling.alpha.kubernetes.io/metrics'])[0]['pods']['metricName'], 'qps')
        old['spec']['maxReplicas'] = 9
        self.call('PUT', HPAS % 'v1' + '/h', old)
        now = self.call('GET', HPAS % 'v2' + '/h')
        self.assertEqual(now['spec']['maxReplicas'], 9)
        self.assertEqual({m['type'] for m in now['spec']['metrics']}, {'Resource', 'Pods'})
        self.assertEqual(now['spec']['behavior'], made['spec']['behavior'])
        self.assertNotIn('annotations', now['metadata'])
        status = {'status': {'currentReplicas': 2, 'desiredReplicas': 3}}
        self.assertEqual(self.call('PATCH', HPAS % 'v1' + '/h/status', status, headers=MERGE)['status']['currentReplicas'], 2)
        self.assertEqual(self.call('GET', HPAS % 'v2' + '/h')['status']['desiredReplicas'], 3)

    def test_a_group_knows_no_managers_of_the_other(self):
        """Entries for whose fields it has no types are dropped on a write, as by kube-apiserver."""
        for made_in, body, patched_in, version in ((CORE, legacy, EVENTS, 'events.k8s.io/v1'), (EVENTS, event, CORE, 'v1')):
            name = 'from-' + version.replace('/', '-')
            self.call('POST', made_in, body(name), code=201)
            patched = self.call('PATCH', patched_in + '/' + name, {'metadata': {'annotations': {'a': 'b'}}}, MERGE)
            self.assertEqual([(entry['apiVersion'], entry['fieldsV1']) for entry in patched['metadata']['managedFields']],
                             [(version, {'f:metadata': {'f:annotations': {'.': {}, 'f:a': {}}}})])

    def test_kubectl_shows_both(self):
        hpa = {'apiVersion': 'autoscaling/v1', 'kind': 'HorizontalPodAutoscaler', 'metadata': {'name': 'k'},
               'spec': {'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'maxReplicas': 5}}
        self.call('POST', HPAS % 'v1', hpa, code=201)
        self.call('POST', EVENTS, event('shown'), code=201)
        for kubectl in kubectls():
            for kind in ('hpa', 'hpa.v1.autoscaling'):
                self.assertRegex(self.server.kubectl(kubectl, 'get', kind, 'k'), r'Deployment/d +(cpu: )?<unknown>/80% +1 +5')
            for kind in ('events', 'events.events.k8s.io'):
                self.assertRegex(self.server.kubectl(kubectl, 'get', kind, 'shown'), r'Normal +Ok +pod/p +began')


class Taints(unittest.TestCase):
    def test_the_time_of_a_taint_is_its_writers_in_every_version(self):
        """It is a default of each version, so the creator of the object owns it."""
        rule = {'kind': 'DeviceTaintRule', 'spec': {'deviceSelector': {'driver': 'd.example.com'},
                                                    'taint': {'key': 'example.com/k', 'value': 'v', 'effect': 'NoSchedule'}}}
        device = {'name': 'd', 'taints': [{'key': 'example.com/k', 'effect': 'NoSchedule'}]}
        piece = {'kind': 'ResourceSlice', 'spec': {'driver': 'd.example.com', 'pool': {'name': 'p', 'resourceSliceCount': 1, 'generation': 1},
                                                   'allNodes': True}}
        with Server('--runtime-config=api/all=true', '--feature-gates=DRADeviceTaintRules=true') as server:
            for version, resource, body in [(version, 'devicetaintrules', rule) for version in ('v1alpha3', 'v1beta2')] + [
                    (version, 'resourceslices', dict(piece, spec=dict(piece['spec'], devices=[
                        {'name': 'd', 'basic': {'taints': device['taints']}} if version == 'v1beta1' else device])))
                    for version in ('v1', 'v1beta2', 'v1beta1')]:
                with self.subTest(version=version, resource=resource):
                    made = dict(body, apiVersion='resource.k8s.io/' + version, metadata={'name': version})
                    code, _, answer = server.request('POST', '/apis/resource.k8s.io/%s/%s' % (version, resource), made)
                    self.assertEqual(code, 201, answer)
                    self.assertIn('"timeAdded"', json.dumps(answer['spec']))
                    owned = answer['metadata']['managedFields'][0]['fieldsV1']['f:spec']
                    # Lists of devices are atomic.
                    want = {'f:taint': {'f:effect': {}, 'f:key': {}, 'f:timeAdded': {}, 'f:value': {}}} if body is rule else {'f:devices': {}}
                    self.assertEqual({key: owned.get(key) for key in want}, want)


if __name__ == '__main__':
    main()
