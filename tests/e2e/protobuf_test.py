"""Protobuf, as client-go's typed clients request it: get, list, watch, writes, errors, metadata only, and the stored encoding."""
import json
import pathlib
import tempfile
import time
import unittest

from harness import Server, configmap, main

PROTOBUF = 'application/vnd.kubernetes.protobuf'
TYPED = PROTOBUF + ',application/json'
MAPS = '/api/v1/namespaces/default/configmaps'
DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
METADATA = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1'


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(message):
    """[(number, value)] of a message: numbers for varints, bytes for what has a length."""
    out, at = [], 0
    while at < len(message):
        tag, at = varint(message, at)
        value, at = varint(message, at)
        if tag & 7 == 2:
            size, value = value, message[at:at + value]
            assert len(value) == size, 'a field ends behind its message'
            at += size
        out.append((tag >> 3, value))
    return out


def first(message, *path):
    for number in path:
        message = next((value for n, value in fields(message) if n == number), b'')
    return message


def envelope(body):
    """(apiVersion, kind, message)"""
    assert body[:4] == b'k8s\0', body[:40]
    outer = fields(body[4:])
    assert [n for n, _ in outer] == [1, 2, 3, 4], outer
    assert outer[2][1] == outer[3][1] == b''
    return first(outer[0][1], 1).decode(), first(outer[0][1], 2).decode(), outer[1][1]


def deployment(name):
    template = {'metadata': {'labels': {'app': name}}, 'spec': {'containers': [{'name': 'c', 'image': 'i', 'ports': [{'containerPort': 80}]}]}}
    return {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': name},
            'spec': {'selector': {'matchLabels': {'app': name}}, 'template': template}}


def definition(plural, kind):
    schema = {'type': 'object', 'properties': {
        'spec': {'type': 'object', 'additionalProperties': {'type': 'integer'}},
        'other': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True, 'default': {'a': [1, 'x']}}}}
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.e.com'},
            'spec': {'group': 'e.com', 'scope': 'Namespaced', 'names': {'plural': plural, 'kind': kind},
                     'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': schema}}]}}


class Client:
    def __init__(self, server):
        self.server = server

    def send(self, method, path, body=None, accept=TYPED, content_type='application/json'):
        connection = self.server.connect()
        headers = {'Accept': accept}
        if body is not None:
            headers['Content-Type'] = content_type
            body = body if isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, response.getheader('Content-Type'), data

    def json(self, path):
        code, _, data = self.send('GET', path, accept='application/json')
        assert code == 200, data
        return json.loads(data)


class Protobuf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.client = Client(cls.server)
        for name in ('a', 'b', 'c'):
            body = configmap('listed-' + name, key='välue <' + name + '>')
            body['metadata']['labels'] = {'listed': 'yes'}
            assert cls.client.send('POST', MAPS, body)[0] == 201
        assert cls.client.send('POST', CRDS, definition('foos', 'Foo'))[0] == 201
        deadline = time.monotonic() + 60
        while cls.client.send('GET', '/apis/e.com/v1/foos')[0] != 200:
            assert time.monotonic() < deadline, 'the custom type is not served'
            time.sleep(0.05)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def expect(self, got, code=200, media=PROTOBUF):
        self.assertEqual(got[:2], (code, media), got[2][:300])
        return got[2]

    def put_back(self, path):
        """Writing an object back as it was read in protobuf changes nothing: no field is lost."""
        before = self.client.json(path)
        body = self.expect(self.client.send('GET', path))
        self.expect(self.client.send('PUT', path, body, content_type=PROTOBUF))
        self.assertEqual(self.client.json(path), before)
        return body

    def test_an_object_survives_the_way_there_and_back(self):
        api_version, kind, message = envelope(self.put_back(MAPS + '/listed-a'))
        self.assertEqual((api_version, kind), ('v1', 'ConfigMap'))
        self.assertEqual(first(message, 1, 1), b'listed-a')
        self.assertEqual(first(message, 2, 2).decode(), 'välue <a>')

    def test_writes_are_answered_in_protobuf(self):
        created = self.expect(self.client.send('POST', DEPLOYMENTS, deployment('written')), 201)
        self.assertEqual(envelope(created)[:2], ('apps/v1', 'Deployment'))
        path = DEPLOYMENTS + '/written'
        self.put_back(path)
        patched = self.expect(self.client.send('PATCH', path, {'spec': {'replicas': 3}}, content_type='application/merge-patch+json'))
        self.assertEqual(first(envelope(patched)[2], 2, 1), 3)
        gone = self.expect(self.client.send('DELETE', path))
        self.assertEqual(envelope(gone)[:2], ('v1', 'Status'))
        self.assertEqual(first(envelope(gone)[2], 2), b'Success')

    def test_a_list_has_every_item_and_pages_go_on(self):
        whole = envelope(self.expect(self.client.send('GET', MAPS + '?labelSelector=listed%3Dyes')))
        self.assertEqual(whole[:2], ('v1', 'ConfigMapList'))
        names, token = [], ''
        while True:
            query = '?labelSelector=listed%3Dyes&limit=2' + ('&continue=' + token if token else '')
            page = envelope(self.expect(self.client.send('GET', MAPS + query)))[2]
            names += [first(item, 1, 1).decode() for number, item in fields(page) if number == 2]
            token = first(page, 1, 3).decode()
            if not token:
                break
        self.assertEqual(names, ['listed-a', 'listed-b', 'listed-c'])
        self.assertEqual([first(item, 1, 1).decode() for number, item in fields(whole[2]) if number == 2], names)
        self.assertTrue(int(first(whole[2], 1, 2)) > 0)
        empty = envelope(self.expect(self.client.send('GET', MAPS + '?labelSelector=listed%3Dno')))[2]
        self.assertEqual([number for number, _ in fields(empty)], [1])

    def read_frame(self, response):
        head = response.read(4)
        event = response.read(int.from_bytes(head, 'big'))
        return first(event, 1).decode(), envelope(first(event, 2, 1))

    def test_a_watch_sends_frames_with_their_length(self):
        listed = envelope(self.client.send('GET', MAPS)[2])[2]
        connection = self.server.connect()
        path = MAPS + '?watch=1&timeoutSeconds=30&resourceVersion=' + first(listed, 1, 2).decode()
        connection.request('GET', path, headers={'Accept': PROTOBUF + ';stream=watch,application/json;stream=watch'})
        response = connection.getresponse()
        self.assertEqual((response.status, response.getheader('Content-Type')), (200, PROTOBUF + ';stream=watch'))
        for value in ('1', '2'):
            body = configmap('watched', k=value)
            self.client.send('POST' if value == '1' else 'PUT', MAPS + ('' if value == '1' else '/watched'), body)
        self.client.send('DELETE', MAPS + '/watched')
        for expected, value in (('ADDED', b'1'), ('MODIFIED', b'2'), ('DELETED', b'2')):
            kind, (api_version, name, message) = self.read_frame(response)
            self.assertEqual((kind, api_version, name), (expected, 'v1', 'ConfigMap'))
            self.assertEqual(first(message, 1, 1), b'watched')
            self.assertEqual(first(message, 2, 2), value)
        connection.close()

    def test_a_watch_that_cannot_go_on_says_so_in_its_frames(self):
        connection = self.server.connect()
        query = '?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=1000000'
        connection.request('GET', MAPS + query + '&timeoutSeconds=20', headers={'Accept': TYPED})
        response = connection.getresponse()
        self.assertEqual((response.status, response.getheader('Content-Type')), (200, PROTOBUF + ';stream=watch'))
        kind, (_, name, message) = self.read_frame(response)
        self.assertEqual((kind, name, first(message, 2)), ('ERROR', 'Status', b'Failure'))
        self.assertIn(b'Too large resource version', first(message, 3))
        self.assertEqual(response.read(), b'')
        connection.close()

    def test_errors_are_statuses_in_protobuf(self):
        missing = envelope(self.expect(self.client.send('GET', MAPS + '/missing'), 404))
        self.assertEqual(missing[:2], ('v1', 'Status'))
        self.assertEqual(first(missing[2], 3), b'configmaps "missing" not found')
        self.assertEqual(first(missing[2], 6), 404)

    def test_tables_are_text(self):
        table = ';as=Table;g=meta.k8s.io;v=v1'
        code, _, body = self.client.send('GET', MAPS, accept=PROTOBUF + table)
        self.assertEqual(code, 406)
        code, media, body = self.client.send('GET', MAPS, accept=PROTOBUF + table + ',application/json' + table)
        self.assertEqual((code, media, json.loads(body)['kind']), (200, 'application/json', 'Table'))

    def test_metadata_alone(self):
        one = envelope(self.expect(self.client.send('GET', MAPS + '/listed-a', accept=PROTOBUF + METADATA)))
        self.assertEqual(one[:2], ('meta.k8s.io/v1', 'PartialObjectMetadata'))
        self.assertEqual([number for number, _ in fields(one[2])], [1])
        self.assertEqual(first(one[2], 1, 1), b'listed-a')
        accept = PROTOBUF + METADATA.replace('Metadata;', 'MetadataList;')
        many = envelope(self.expect(self.client.send('GET', MAPS + '?labelSelector=listed%3Dyes', accept=accept)))
        self.assertEqual(many[:2], ('meta.k8s.io/v1', 'PartialObjectMetadataList'))
        self.assertEqual([first(item, 1, 1) for number, item in fields(many[2]) if number == 2], [b'listed-a', b'listed-b', b'listed-c'])

    def test_custom_resources_are_json_but_for_their_metadata(self):
        foo = {'apiVersion': 'e.com/v1', 'kind': 'Foo', 'metadata': {'name': 'f', 'labels': {'a': 'b'}}, 'spec': {'n': 1}}
        foos = '/apis/e.com/v1/namespaces/default/foos'
        code, media, _ = self.client.send('POST', foos, foo)
        self.assertEqual((code, media), (201, 'application/json'))
        self.assertEqual(self.client.send('GET', foos)[:2], (200, 'application/json'))
        self.assertEqual(self.client.send('GET', foos, accept=PROTOBUF)[0], 406)
        one = envelope(self.expect(self.client.send('GET', foos + '/f', accept=PROTOBUF + METADATA)))
        self.assertEqual(one[:2], ('meta.k8s.io/v1', 'PartialObjectMetadata'))
        self.assertEqual(first(one[2], 1, 1), b'f')

    def test_definitions_with_values_of_several_forms_survive(self):
        self.put_back(CRDS + '/foos.e.com')

    def test_definitions_can_be_created_from_protobuf(self):
        self.expect(self.client.send('POST', CRDS, definition('bars', 'Bar')), 201)
        before = self.client.json(CRDS + '/bars.e.com')['spec']
        body = envelope(self.client.send('GET', CRDS + '/bars.e.com')[2])[2]
        self.client.send('DELETE', CRDS + '/bars.e.com')
        deadline = time.monotonic() + 60
        while self.client.send('GET', CRDS + '/bars.e.com')[0] != 404:
            assert time.monotonic() < deadline, 'the definition does not go'
            time.sleep(0.05)

        def field(number, data):
            return bytes([number << 3 | 2]) + self.length(len(data)) + data
        message = field(1, field(1, b'bars.e.com')) + field(2, first(body, 2))
        wrapped = b'k8s\0' + field(1, field(1, b'apiextensions.k8s.io/v1') + field(2, b'CustomResourceDefinition')) + field(2, message)
        self.expect(self.client.send('POST', CRDS, wrapped, content_type=PROTOBUF), 201)
        self.assertEqual(self.client.json(CRDS + '/bars.e.com')['spec'], before)

    @staticmethod
    def length(value):
        out = b''
        while value >= 0x80:
            out += bytes([value & 0x7f | 0x80])
            value >>= 7
        return out + bytes([value])


class StoredForm(unittest.TestCase):
    def stored_bytes(self, directory):
        return b''.join(path.read_bytes() for path in pathlib.Path(directory).rglob('*') if path.is_file() and 'rocksdb' in str(path))

    def test_a_store_is_written_as_asked_and_read_whatever_it_holds(self):
        with tempfile.TemporaryDirectory() as directory:
            answers = {}
            for name, media in (('json', 'application/json'), ('protobuf', PROTOBUF), ('again', 'application/json'), ('yaml', 'application/yaml')):
                server = Server('--storage-media-type=' + media, data_dir=directory)
                try:
                    client = Client(server)
                    self.assertEqual(client.send('POST', DEPLOYMENTS, deployment('in-' + name))[0], 201)
                    for earlier, answer in answers.items():
                        self.assertEqual(client.json(DEPLOYMENTS + '/in-' + earlier), answer)
                    answers[name] = client.json(DEPLOYMENTS + '/in-' + name)
                finally:
                    server.stop()
                envelope_head = b'k8s\0\x0a\x15\x0a\x07apps/v1\x12\x0aDeployment'
                self.assertEqual(envelope_head in self.stored_bytes(directory), name != 'json')

    def test_other_media_types_are_refused_at_start(self):
        server = Server('--storage-media-type=application/xml', wait=False)
        self.addCleanup(server.stop)
        self.assertNotEqual(server.process.wait(60), 0)
        self.assertIn('--storage-media-type: invalid value "application/xml"; allowed: application/json, ' + PROTOBUF + ', application/yaml', server.text())


if __name__ == '__main__':
    main()
