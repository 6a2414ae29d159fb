"""OpenAPI: consistent documents in every encoding, with caching headers."""
import json
import re
import unittest

from harness import Served, main

V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
METHODS = ('get', 'put', 'post', 'delete', 'options', 'head', 'patch')


def references(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == '$ref' and isinstance(value, str):
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def schemas(node):
    """Every schema within a schema, itself first; names of properties are not keywords."""
    yield node
    for value in node.get('properties', {}).values():
        yield from schemas(value)
    for word in ('items', 'additionalProperties'):
        if isinstance(node.get(word), dict):
            yield from schemas(node[word])
    for word in ('allOf', 'oneOf', 'anyOf'):
        for value in node.get(word, []):
            yield from schemas(value)


def operations(document):
    for path, item in document['paths'].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(message):
    """[(number, value)] of a protobuf message."""
    out, at = [], 0
    while at < len(message):
        tag, at = varint(message, at)
        if tag & 7 == 1:
            value, at = message[at:at + 8], at + 8
        else:
            value, at = varint(message, at)
            if tag & 7 == 2:
                size, value = value, message[at:at + value]
                assert len(value) == size, 'a field ends behind its message'
                at += size
        out.append((tag >> 3, value))
    return out


def named(message, *path):
    """The named values (1: name, 2: value) of the message at the path."""
    for number in path:
        message = next(value for n, value in fields(message) if n == number)
    out = {}
    for _, entry in fields(message):
        parts = dict(fields(entry))
        out[parts[1].decode()] = parts.get(2, b'')
    return out


class OpenApi(Served, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.v2 = cls.server.request('GET', '/openapi/v2')[2]
        cls.index = cls.server.request('GET', '/openapi/v3')[2]['paths']
        cls.v3 = {name: cls.server.request('GET', '/openapi/v3/' + name)[2] for name in cls.index}

    def raw(self, path, accept='application/json', **headers):
        connection = self.server.connect()
        connection.request('GET', path, headers=dict({'Accept': accept}, **headers))
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, data

    def test_every_reference_leads_somewhere(self):
        for name, document in [('v2', self.v2), *self.v3.items()]:
            for reference in set(references(document)):
                at = document
                for step in reference[2:].split('/'):
                    self.assertIn(step, at, name + ': ' + reference)
                    at = at[step]

    def test_operations_have_ids_of_their_own_and_declare_what_their_paths_take(self):
        ids = {}
        for name, document in [('v2', self.v2), *self.v3.items()]:
            seen = ids.setdefault(name == 'v2', set())
            for path, method, operation in operations(document):
                self.assertNotIn(operation['operationId'], seen)
                seen.add(operation['operationId'])
                self.assertIn('401', operation['responses'])
                self.assertRegex(operation['description'], r'^[A-Z][^{}]+\.$', path)
                item = document['paths'][path]
                given = []
                for parameter in item.get('parameters', []) + operation.get('parameters', []):
                    if '$ref' in parameter:
                        parameter = document['parameters'][parameter['$ref'].rsplit('/', 1)[1]]
                    given.append((parameter['in'], parameter['name']))
                self.assertEqual(len(given), len(set(given)), path + ' ' + method)
                self.assertEqual({name for place, name in given if place == 'path'}, set(re.findall(r'{(\w+)}', path)), path)
                for many in (item.get('parameters', []), [p for p in operation.get('parameters', []) if p.get('in') != 'body']):
                    names = [p.get('name', p.get('$ref', '').rsplit('/', 1)[-1]) for p in many]
                    # Shared parameters are named NAME-HASH; they are compared by NAME alone.
                    self.assertEqual(names, sorted(names, key=lambda name: name.rsplit('-', 1)[0]), path)
        self.assertEqual(ids[True], ids[False], 'v2 is all of v3')

    def test_v2_says_nothing_that_swagger_does_not_know(self):
        for name, definition in self.v2['definitions'].items():
            for schema in schemas(definition):
                for word in ('default', 'nullable', 'oneOf', 'anyOf', 'allOf'):
                    self.assertNotIn(word, schema, name)
        properties = self.v2['definitions']['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps']['properties']
        self.assertIn('oneOf', properties, 'a property of that name is one')
        self.assertEqual(self.v2['definitions']['io.k8s.apimachinery.pkg.api.resource.Quantity']['type'], 'string')

    def test_definitions_of_v2_and_v3_have_the_same_members(self):
        for name, document in self.v3.items():
            for definition, schema in document['components'].get('schemas', {}).items():
                self.assertEqual(set(schema.get('properties', {})), set(self.v2['definitions'][definition].get('properties', {})), definition)

    def test_a_delete_that_answers_the_object_says_so(self):
        def answer(path):
            schema = self.v2['paths'][path]['delete']['responses']['200']['schema']
            return schema['$ref'].rsplit('.', 1)[1]
        self.assertEqual(answer('/api/v1/namespaces/{namespace}/pods/{name}'), 'Pod')
        self.assertEqual(answer('/api/v1/namespaces/{namespace}/configmaps/{name}'), 'Status')

    def test_kinds_of_every_version_are_listed(self):
        name = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'
        rows = self.v2['definitions'][name]['x-kubernetes-group-version-kind']
        self.assertIn({'group': 'apps', 'kind': 'DeleteOptions', 'version': 'v1'}, rows)
        self.assertIn({'group': 'apps', 'kind': 'DeleteOptions', 'version': 'v1beta1'}, rows)
        rows = self.v3['apis/apps/v1']['components']['schemas'][name]['x-kubernetes-group-version-kind']
        self.assertEqual([row['group'] for row in rows], ['', 'apps'])

    def test_discovery_and_the_version_have_documents(self):
        for name in ('api', 'apis', 'apis/apps', 'version', 'api/v1', 'apis/apps/v1'):
            self.assertIn(name, self.index)
        self.assertIn('/apis/apps/', self.v3['apis/apps']['paths'])
        self.assertEqual(self.raw('/openapi/v3/apis/none/v1')[0], 404)

    def test_the_hash_in_the_index_lets_a_document_be_kept_and_another_leads_to_it(self):
        for name in ('version', 'apis/apps/v1'):
            url = self.index[name]['serverRelativeURL']
            code, headers, _ = self.raw(url)
            self.assertEqual((code, headers['cache-control']), (200, 'public, immutable'))
            self.assertIn('expires', headers)
            self.assertEqual(headers['etag'], '"' + url.split('hash=')[1] + '"')
            code, headers, _ = self.raw('/openapi/v3/' + name + '?hash=0A')
            self.assertEqual((code, headers['location']), (301, url))
            code, headers, _ = self.raw('/openapi/v3/' + name)
            self.assertNotIn('expires', headers)

    def test_the_protobuf_forms_name_what_the_json_names(self):
        for asked in (V2_PROTOBUF, V2_PROTOBUF.replace('v2.v1', 'v2@v1')):
            code, headers, data = self.raw('/openapi/v2', accept=asked)
            self.assertEqual((code, headers['content-type']), (200, V2_PROTOBUF))
        self.assertEqual(set(named(data, 9)), set(self.v2['definitions']))
        self.assertEqual(set(named(data, 10)), set(self.v2['parameters']))
        for name in ('apis/apps/v1', 'version'):
            for asked in (V3_PROTOBUF, V3_PROTOBUF.replace('v3.v1', 'v3@v1')):
                code, headers, data = self.raw('/openapi/v3/' + name, accept=asked)
                self.assertEqual((code, headers['content-type']), (200, V3_PROTOBUF))
            self.assertEqual(set(named(data, 4)), set(self.v3[name]['paths']))
            self.assertEqual(set(named(data, 5, 1)), set(self.v3[name]['components']['schemas']))
            self.assertEqual(headers['etag'], self.raw('/openapi/v3/' + name)[1]['etag'])

    def test_other_media_types_are_not_acceptable(self):
        for path in ('/openapi/v2', '/openapi/v3/version', '/openapi/v3/apis/apps/v1'):
            self.assertIn('last-modified', self.raw(path)[1])
            self.assertEqual(self.raw(path, accept='text/html')[0], 406, path)
            for accept in ('*/*', 'application/*', 'text/html, application/json;q=0.5'):
                code, headers, data = self.raw(path, accept=accept)
                self.assertEqual((code, headers['content-type']), (200, 'application/json'), path)
                json.loads(data)


if __name__ == '__main__':
    main()
