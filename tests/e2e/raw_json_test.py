"""Raw JSON inside of built-in kinds: stored as it was sent, shown compact. The expected values are kube-apiserver 1.36.3's responses."""
import json
import unittest

from harness import Served, Server, main
from protobuf_test import TYPED, fields

REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions'
CLASSES = '/apis/resource.k8s.io/v1/deviceclasses'
MERGE, STRATEGIC, JSON, APPLY = ('application/%s+%s' % (n, 'yaml' if n == 'apply-patch' else 'json')
                                 for n in ('merge-patch', 'strategic-merge-patch', 'json-patch', 'apply-patch'))
SENT = '{ "z":1.0, "a":{"q":1e2,"b":"<\\u0041"}, "dup":1,"dup":2, "l":[ 1.0,{"y":1,"x":2} ] }'
COMPACT = '{"z":1.0,"a":{"q":1e2,"b":"\\u003c\\u0041"},"dup":1,"dup":2,"l":[1.0,{"y":1,"x":2}]}'
READ = '{"a":{"b":"\\u003cA","q":100},"dup":2,"l":[1,{"x":2,"y":1}],"z":1}'
IMMUTABLE = 'ControllerRevision.apps "%s" is invalid: data: Invalid value: %s: field is immutable'


def revision(name, data):
    return '{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"%s"},"revision":1,"data":%s}' % (name, data)


def device_class(name, parameters):
    return ('{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"%s"},"spec":{"config":[{"opaque":'
            '{"driver":"a.b","parameters":%s}}]}}' % (name, parameters))


def messages(message, numbers):
    """The bytes of the fields on the way."""
    for number in numbers:
        message = next(value for n, value in fields(message) if n == number)
    return message


def send(server, method, path, body=None, kind='application/json', accept='application/json'):
    """(status, bytes)"""
    connection = server.connect()
    connection.request(method, path, body=body, headers={'Content-Type': kind, 'Accept': accept})
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, data


class RawJsonTest(Served, unittest.TestCase):
    def send(self, *args, **options):
        return send(self.server, *args, **options)

    def create(self, path, body):
        status, data = self.send('POST', path, body)
        self.assertEqual(status, 201, data)
        return data.decode()

    def sent_in_protobuf(self, path, *numbers):
        status, data = self.send('GET', path, accept=TYPED)
        self.assertEqual(status, 200)
        self.assertTrue(data.startswith(b'k8s\0'), data)
        return messages(data[4:], (2, *numbers)).decode()

    def data_of(self, name):
        return self.sent_in_protobuf(REVISIONS + '/' + name, 2, 1)

    def parameters_of(self, name):
        return self.sent_in_protobuf(CLASSES + '/' + name, 2, 2, 1, 1, 2, 1)

    def patch(self, path, kind, body, query=''):
        return self.send('PATCH', path + query, body if isinstance(body, str) else json.dumps(body), kind)

    def test_it_is_shown_compact_and_kept_as_it_was_sent(self):
        self.assertIn('"data":' + COMPACT, self.create(REVISIONS, revision('kept', SENT)))
        self.assertEqual(self.data_of('kept'), SENT)
        _, listed = self.send('GET', REVISIONS)
        self.assertIn('"data":' + COMPACT, listed.decode())
        _, yaml = self.send('GET', REVISIONS + '/kept', accept='application/yaml')
        self.assertIn('data:\n  a:\n    b: <A\n    q: 100\n  dup: 2\n  l:\n  - 1\n  - x: 2\n    "y": 1\n  z: 1\n', yaml.decode())

    def test_numbers_are_what_they_were(self):
        text = '{"n":123456789012345678901234567890,"e":1e3,"z":-0,"f":1.50}'
        self.assertIn('"data":' + text, self.create(REVISIONS, revision('numbers', text)))
        self.assertEqual(self.patch(REVISIONS + '/numbers', MERGE, {'metadata': {'labels': {'a': 'b'}}})[0], 200)
        status, data = self.patch(REVISIONS + '/numbers', STRATEGIC, {'metadata': {'labels': {'a': 'c'}}})
        self.assertEqual((status, json.loads(data)['message']),
                         (422, IMMUTABLE % ('numbers', '{"e":1000,"f":1.5,"n":1.2345678901234568e+29,"z":0}')))

    def test_a_revision_is_immutable_to_the_last_blank(self):
        self.create(REVISIONS, revision('fixed', SENT))
        path = REVISIONS + '/fixed'
        self.assertEqual(self.send('PUT', path, revision('fixed', SENT))[0], 200)
        status, data = self.send('PUT', path, revision('fixed', SENT.replace(' ', '')))
        self.assertEqual((status, json.loads(data)['message']), (422, IMMUTABLE % ('fixed', COMPACT)))
        for kind, body, shown in ((MERGE, {'metadata': {'labels': {'l': 'm'}}}, COMPACT),
                                  (JSON, [{'op': 'add', 'path': '/metadata/labels', 'value': {'l': 'j'}}], COMPACT),
                                  (STRATEGIC, {'metadata': {'labels': {'l': 's'}}}, READ)):
            status, data = self.patch(path, kind, body)
            self.assertEqual((status, json.loads(data)['message']), (422, IMMUTABLE % ('fixed', shown)), kind)
        status, data = self.patch(path, APPLY, {'apiVersion': 'apps/v1', 'kind': 'ControllerRevision',
                                                'metadata': {'name': 'fixed', 'labels': {'l': 'a'}}}, '?fieldManager=ap')
        self.assertEqual((status, json.loads(data)['message']), (422, IMMUTABLE % ('fixed', READ)))
        self.assertEqual(self.data_of('fixed'), SENT)

    def test_what_is_no_object(self):
        for data, text in (('null', 'data is mandatory'), ('[1, 2]', 'data must be a valid JSON object'),
                           ('"x"', 'data must be a valid JSON object'), ('1.0', 'data must be a valid JSON object')):
            status, answer = self.send('POST', REVISIONS, revision('none', data))
            self.assertEqual((status, json.loads(answer)['message']),
                             (422, 'ControllerRevision.apps "none" is invalid: data: Required value: ' + text))

    def patched_class(self, name, kind, body, query=''):
        self.create(CLASSES, device_class(name, SENT))
        status, data = self.patch(CLASSES + '/' + name, kind, body, query)
        self.assertEqual(status, 200, data)
        return json.loads(data)['metadata']['generation'], self.parameters_of(name)

    def test_patches_of_something_else(self):
        labels = {'metadata': {'labels': {'l': 'm'}}}
        self.assertEqual(self.patched_class('merge', MERGE, labels), (2, COMPACT))
        self.assertEqual(self.patched_class('json', JSON, [{'op': 'add', 'path': '/metadata/labels', 'value': {'l': 'j'}}]), (2, COMPACT))
        self.assertEqual(self.patched_class('smp', STRATEGIC, labels), (2, READ))
        applied = dict(labels, apiVersion='resource.k8s.io/v1', kind='DeviceClass')
        applied['metadata'] = dict(applied['metadata'], name='apply')
        self.assertEqual(self.patched_class('apply', APPLY, applied, '?fieldManager=ap'), (2, READ))

    def test_patches_of_what_is_in_it(self):
        inside = '/spec/config/0/opaque/parameters'
        self.assertEqual(self.patched_class('in1', JSON, '[{"op":"replace","path":"%s/a/q","value":{"y":1.0, "b":2}}]' % inside),
                         (2, '{"a":{"b":"\\u003c\\u0041","q":{"y":1.0,"b":2}},"dup":2,"l":[1.0,{"y":1,"x":2}],"z":1.0}'))
        self.assertEqual(self.patched_class('in2', JSON, '[{"op":"replace","path":"%s","value":{"y":1.0, "b":2,"b":3}}]' % inside),
                         (2, '{"y":1.0,"b":2,"b":3}'))
        merge = '{"spec":{"config":[{"opaque":{"driver":"a.b","parameters":{"y":1.0,"n":null,"b":{"d":1e1,"c":null}}}}]}}'
        self.assertEqual(self.patched_class('in3', MERGE, merge), (2, '{"b":{"d":1e1},"y":1.0}'))
        strategic = '{"spec":{"config":[{"opaque":{"driver":"a.b","parameters":{"y":1.0,"b":2}}}]}}'
        self.assertEqual(self.patched_class('in4', STRATEGIC, strategic), (2, '{"b":2,"y":1}'))

    def test_an_apply_of_the_same_values_changes_nothing(self):
        body = json.loads(device_class('same', READ))
        self.assertEqual(self.patched_class('same', APPLY, body, '?fieldManager=ap'), (1, SENT))

    def test_every_change_of_its_text_is_a_new_generation_and_no_change_of_fields(self):
        self.create(CLASSES, device_class('text', '{"a":1, "b":2}'))
        seen = []
        for text in ('{"a":1,"b":2}', '{"b":2,"a":1}', '{"b":2,"a":1.0}', '{"b":2,"a":1.0}'):
            status, data = self.send('PUT', CLASSES + '/text', device_class('text', text))
            self.assertEqual(status, 200, data)
            seen.append((json.loads(data)['metadata']['generation'], json.loads(data)['metadata']['resourceVersion']))
        self.assertEqual([generation for generation, _ in seen], [2, 3, 4, 4])
        self.assertEqual(seen[2], seen[3], 'a write of the same is none')

    def test_yaml_and_dry_runs(self):
        yaml = 'apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: y1}\nrevision: 1\ndata: {b: 1.0, a: 0x10, c: 1e3, d: "<"}\n'
        self.assertEqual(self.send('POST', REVISIONS, yaml, 'application/yaml')[0], 201)
        self.assertEqual(self.data_of('y1'), '{"a":16,"b":1,"c":1000,"d":"\\u003c"}')
        status, data = self.send('POST', CLASSES + '?dryRun=All', device_class('dry', SENT), accept=TYPED)
        self.assertEqual(status, 201)
        self.assertEqual(messages(data[4:], (2, 2, 2, 1, 1, 2, 1)).decode(), SENT)

    def test_it_outlives_a_start(self):
        server = Server()
        try:
            self.assertEqual(send(server, 'POST', REVISIONS, revision('kept', SENT))[0], 201)
            server.terminate()
            with Server(data_dir=server.dir) as again:
                _, data = send(again, 'GET', REVISIONS + '/kept', accept=TYPED)
                self.assertEqual(messages(data[4:], (2, 2, 1)).decode(), SENT)
                self.assertIn('"data":' + COMPACT, send(again, 'GET', REVISIONS + '/kept')[1].decode())
                status, data = send(again, 'PUT', REVISIONS + '/kept', revision('kept', SENT))
                self.assertEqual(status, 200, data)
        finally:
            server.stop()


if __name__ == '__main__':
    main()
