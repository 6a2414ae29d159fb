"""CBOR: off unless its gate is on; then objects, lists, watches, writes, errors and metadata, of built-in and custom kinds."""
import json
import struct
import time
import unittest

from harness import Server, configmap, main

CBOR = 'application/cbor'
JSON = 'application/json'
MAPS = '/api/v1/namespaces/default/configmaps'
SECRETS = '/api/v1/namespaces/default/secrets'
CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
FOOS = '/apis/e.com/v1/namespaces/default/foos'
METADATA = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
TAG = b'\xd9\xd9\xf7'


class Tagged:
    def __init__(self, number, value):
        self.number, self.value = number, value


def head(data, at):
    major, info = data[at] >> 5, data[at] & 31
    assert info < 28, 'an indefinite or reserved head'
    size = 0 if info < 24 else 1 << (info - 24)
    return major, info, (info if size == 0 else int.from_bytes(data[at + 1:at + 1 + size], 'big')), at + 1 + size


def item(data, at=0):
    """(value, offset behind it); byte strings are str where they are text, tags are Tagged."""
    major, info, argument, at = head(data, at)
    if major == 0:
        return argument, at
    if major == 1:
        return -1 - argument, at
    if major in (2, 3):
        return data[at:at + argument].decode(errors='surrogateescape'), at + argument
    if major == 4:
        out = []
        for _ in range(argument):
            value, at = item(data, at)
            out.append(value)
        return out, at
    if major == 5:
        out = {}
        for _ in range(argument):
            key, at = item(data, at)
            assert key not in out, key
            out[key], at = item(data, at)
        return out, at
    if major == 6:
        value, at = item(data, at)
        return (value if argument == 55799 else Tagged(argument, value)), at
    if info in (25, 26, 27):
        return struct.unpack({25: '>e', 26: '>f', 27: '>d'}[info], data[at - (1 << (info - 24)):at])[0], at
    return {20: False, 21: True, 22: None}[info], at


def read(body):
    assert body.startswith(TAG), body[:20]
    value, end = item(body)
    assert end == len(body), 'something behind the item'
    return value


def write(value, text=True):
    """Texts as text strings or as byte strings: a server accepts both."""
    def start(major, argument):
        if argument < 24:
            return bytes([major << 5 | argument])
        size = 0 if argument < 1 << 8 else 1 if argument < 1 << 16 else 2
        return bytes([major << 5 | 24 + size]) + argument.to_bytes(1 << size, 'big')
    if value is None:
        return b'\xf6'
    if isinstance(value, bool):
        return b'\xf5' if value else b'\xf4'
    if isinstance(value, int):
        return start(0, value) if value >= 0 else start(1, -1 - value)
    if isinstance(value, str):
        return start(3 if text else 2, len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return b'\xd6' + start(2, len(value)) + value
    if isinstance(value, list):
        return start(4, len(value)) + b''.join(write(each, text) for each in value)
    return start(5, len(value)) + b''.join(write(key, text) + write(each, text) for key, each in value.items())


def definition():
    schema = {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {'n': {'type': 'integer'}, 'r': {'type': 'number'}}}}}
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'foos.e.com'},
            'spec': {'group': 'e.com', 'scope': 'Namespaced', 'names': {'plural': 'foos', 'kind': 'Foo'},
                     'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': schema}}]}}


class Client:
    def __init__(self, server):
        self.server = server

    def send(self, method, path, body=None, accept=CBOR, content_type=CBOR):
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
        code, _, data = self.send('GET', path, accept=JSON)
        assert code == 200, data
        return json.loads(data)


class WithoutTheGate(unittest.TestCase):
    def test_cbor_is_neither_accepted_nor_returned(self):
        with Server() as server:
            client = Client(server)
            code, media, data = client.send('GET', MAPS)
            self.assertEqual((code, media), (406, JSON))
            self.assertEqual(json.loads(data)['message'], '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, '
                             'application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch')
            code, _, data = client.send('POST', MAPS, write(configmap('a')), accept=JSON)
            self.assertEqual(code, 415)
            self.assertEqual(json.loads(data)['message'], 'the body of the request was in an unknown format - accepted media types include: '
                             'application/json, application/yaml, application/vnd.kubernetes.protobuf')


class Cbor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server('--feature-gates=CBORServingAndStorage=true')
        cls.client = Client(cls.server)
        for name in ('a', 'b', 'c'):
            body = configmap('listed-' + name, key='välue <' + name + '>')
            body['metadata']['labels'] = {'listed': 'yes'}
            assert cls.client.send('POST', MAPS, body, content_type=JSON)[0] == 201
        assert cls.client.send('POST', CRDS, definition(), content_type=JSON)[0] == 201
        deadline = time.monotonic() + 60
        while cls.client.send('GET', '/apis/e.com/v1/foos')[0] != 200:
            assert time.monotonic() < deadline, 'the custom type is not served'
            time.sleep(0.05)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def expect(self, got, code=200, media=CBOR):
        self.assertEqual(got[:2], (code, media), got[2][:300])
        return read(got[2])

    def listed(self):
        """A list of one revision, whatever the server itself writes between two requests."""
        now = self.client.json(MAPS)['metadata']['resourceVersion']
        return MAPS + '?labelSelector=listed%3Dyes&resourceVersionMatch=Exact&resourceVersion=' + now

    def test_an_object_is_what_its_json_is_and_comes_back_unchanged(self):
        path = MAPS + '/listed-a'
        before = self.client.json(path)
        code, media, data = self.client.send('GET', path)
        self.assertEqual(self.expect((code, media, data)), before)
        self.expect(self.client.send('PUT', path, data))
        self.assertEqual(self.client.json(path), before)

    def test_texts_and_byte_strings_are_taken_alike_and_bytes_have_their_tag(self):
        for name, text in (('texts', True), ('bytes', False)):
            body = {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': name}, 'data': {'k': b'\x00\xff'}}
            made = self.expect(self.client.send('POST', SECRETS, TAG + write(body, text)), 201)
            self.assertEqual(made['data']['k'].number, 22)
            self.assertEqual(made['data']['k'].value.encode(errors='surrogateescape'), b'\x00\xff')
            self.assertEqual(self.client.json(SECRETS + '/' + name)['data'], {'k': 'AP8='})

    def test_a_list_and_its_pages(self):
        query = self.listed()
        self.assertEqual(self.expect(self.client.send('GET', query)), self.client.json(query))
        page = self.expect(self.client.send('GET', query + '&limit=2'))
        self.assertEqual([each['metadata']['name'] for each in page['items']], ['listed-a', 'listed-b'])
        counted = MAPS + '?limit=1'
        self.assertEqual(self.expect(self.client.send('GET', counted))['metadata'].keys(), self.client.json(counted)['metadata'].keys())
        self.assertGreater(self.expect(self.client.send('GET', counted))['metadata']['remainingItemCount'], 0)
        self.assertEqual(self.expect(self.client.send('GET', MAPS + '?labelSelector=listed%3Dno'))['items'], [])

    def test_metadata_alone_in_objects_and_lists(self):
        path = MAPS + '/listed-b'
        self.assertEqual(self.expect(self.client.send('GET', path, accept=CBOR + METADATA)),
                         json.loads(self.client.send('GET', path, accept=JSON + METADATA)[2]))
        query, accept = self.listed(), METADATA.replace('Metadata', 'MetadataList', 1)
        self.assertEqual(self.expect(self.client.send('GET', query, accept=CBOR + accept)),
                         json.loads(self.client.send('GET', query, accept=JSON + accept)[2]))

    def test_tables_have_no_such_form(self):
        code, _, data = self.client.send('GET', MAPS, accept=CBOR + ';as=Table;g=meta.k8s.io;v=v1')
        self.assertEqual(code, 406, data)

    def test_a_watch_is_a_sequence_of_items(self):
        connection = self.server.connect()
        version = self.client.json(MAPS)['metadata']['resourceVersion']
        connection.request('GET', MAPS + '?watch=1&timeoutSeconds=30&resourceVersion=' + version, headers={'Accept': CBOR})
        response = connection.getresponse()
        self.assertEqual((response.status, response.getheader('Content-Type')), (200, 'application/cbor-seq'))
        self.assertEqual(self.client.send('POST', MAPS, write(configmap('watched')))[0], 201)
        self.assertEqual(self.client.send('DELETE', MAPS + '/watched')[0], 200)
        data, events = b'', []
        while len(events) < 2:
            data += response.read1()
            try:
                while data:
                    event, end = item(data)
                    events.append(event)
                    data = data[end:]
            except IndexError:
                continue
        connection.close()
        self.assertEqual([(each['type'], each['object']['metadata']['name']) for each in events], [('ADDED', 'watched'), ('DELETED', 'watched')])
        self.assertEqual(events[0]['object']['kind'], 'ConfigMap')

    def test_custom_kinds_have_the_form_too_and_numbers_keep_their_sort(self):
        body = {'apiVersion': 'e.com/v1', 'kind': 'Foo', 'metadata': {'name': 'one'}, 'spec': {'n': 70000, 'r': 1}}
        made = self.expect(self.client.send('POST', FOOS, write(body)), 201)
        self.assertEqual(made['spec'], {'n': 70000, 'r': 1})
        self.assertEqual(self.expect(self.client.send('GET', FOOS)), self.client.json(FOOS))

    def test_errors_come_in_it_and_say_what_upstreams_decoder_says(self):
        missing = self.expect(self.client.send('GET', MAPS + '/none'), 404)
        self.assertEqual((missing['kind'], missing['reason']), ('Status', 'NotFound'))
        cases = ((b'', 'unable to determine group/version/kind: EOF (<empty>)'),
                 (b'\x80', 'unable to determine group/version/kind: cbor: cannot unmarshal array into Go value of type v1.TypeMeta '
                           '(cannot decode CBOR array to struct without toarray option) (80)'),
                 (b'\xa1\x64kind\x01', 'unable to determine group/version/kind: cbor: cannot unmarshal positive integer into Go struct field '
                                       'v1.TypeMeta.kind of type string (a1646b696e6401)'),
                 (b'\xa2\x61a\x01\x61a\x01', 'unable to determine group/version/kind: cbor: found duplicate map key "a" at map element index 1 '
                                             '(a26161016161 01)'.replace(' 01)', '01)')))
        for body, message in cases:
            refused = self.expect(self.client.send('POST', MAPS, body), 400)
            self.assertEqual(refused['message'], 'the object provided is unrecognized (must be of type ConfigMap): ' + message)

    def test_an_unknown_field_is_reported_with_its_number(self):
        body = configmap('strict')
        body['metadata']['what'] = 1
        refused = self.expect(self.client.send('POST', MAPS + '?fieldValidation=Strict', write(body)), 400)
        self.assertEqual(refused['message'], 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
                         'cbor: found unknown field at map element index 1')
        self.expect(self.client.send('POST', MAPS + '?fieldValidation=Ignore&dryRun=All', write(body)), 201)


if __name__ == '__main__':
    main()
