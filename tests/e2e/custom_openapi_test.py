"""OpenAPI of custom resources: v3 has their schemas, v2 the part that old clients can read, and kubectl explain uses them."""
import re
import time
import unittest

from harness import Served, kubectls

CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
GROUP = 'docs.e2e.example.com'
PREFIX = 'com.example.e2e.docs.v1.'
META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
V2, V3 = '#/definitions/', '#/components/schemas/'
BAR = {'type': 'object', 'required': ['name'], 'properties': {
    'name': {'type': 'string', 'description': 'Name of Bar.'}, 'bazs': {'type': 'array', 'items': {'type': 'string'}, 'description': 'List of Bazs.'}}}
SPEC = {'type': 'object', 'description': 'Specification of Foo', 'required': ['maybe', 'port'], 'properties': {
    'bars': {'type': 'array', 'description': 'List of Bars and their specs.', 'items': BAR},
    'maybe': {'type': 'object', 'nullable': True, 'properties': {'a': {'type': 'string'}}},
    'port': {'x-kubernetes-int-or-string': True},
    'limited': {'x-kubernetes-int-or-string': True, 'anyOf': [{'pattern': '^1'}, {'pattern': '^2'}]},
    'plain': {'x-kubernetes-int-or-string': True, 'anyOf': [{'type': 'integer'}, {'type': 'string'}]},
    'any': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True, 'properties': {'b': {'type': 'string'}}},
    'pod': {'type': 'object', 'x-kubernetes-embedded-resource': True, 'properties': {'spec': {'type': 'object'}}},
    'whole': {'type': 'object', 'x-kubernetes-embedded-resource': True, 'x-kubernetes-preserve-unknown-fields': True},
    'color': {'type': 'string', 'default': 'red'}}}
FOO = {'type': 'object', 'description': 'Foo CRD for Testing',
       'properties': {'metadata': {'type': 'object', 'properties': {'name': {'type': 'string', 'maxLength': 9}}}, 'spec': SPEC}}


def definition(plural, kind, schema, **version):
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.' + GROUP},
            'spec': {'group': GROUP, 'scope': 'Namespaced', 'names': {'plural': plural, 'singular': kind.lower(), 'kind': kind},
                     'versions': [dict({'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': schema}}, **version)]}}


def references(node):
    if isinstance(node, dict):
        for name, value in node.items():
            if name == '$ref' and isinstance(value, str):
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for each in node:
            yield from references(each)


class CustomOpenApi(Served, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for crd in (definition('foos', 'Foo', FOO, selectableFields=[{'jsonPath': '.spec.color'}]),
                    definition('bags', 'Bag', {'type': 'object', 'description': 'holds all', 'x-kubernetes-preserve-unknown-fields': True},
                               subresources={'status': {}})):
            code, _, body = cls.server.request('POST', CRDS, crd)
            assert code == 201, body
        deadline = time.monotonic() + 60
        while PREFIX + 'Bag' not in cls.server.request('GET', '/openapi/v2')[2]['definitions']:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        cls.v2 = cls.server.request('GET', '/openapi/v2')[2]
        cls.v3 = cls.server.request('GET', '/openapi/v3/apis/%s/v1' % GROUP)[2]

    def test_every_reference_leads_somewhere(self):
        for document in (self.v2, self.v3):
            found = set(references(document))
            self.assertTrue(any(each.endswith(PREFIX + 'FooList') for each in found))
            for reference in found:
                at = document
                for step in reference[2:].split('/'):
                    self.assertIn(step, at, reference)
                    at = at[step]

    def test_v3_says_what_the_schema_says(self):
        foo = self.v3['components']['schemas'][PREFIX + 'Foo']
        self.assertEqual(foo['properties']['metadata']['allOf'], [{'$ref': V3 + META + 'ObjectMeta'}])
        self.assertEqual(foo['x-kubernetes-selectable-fields'], [{'fieldPath': 'spec.color'}])
        spec = foo['properties']['spec']
        either = [{'type': 'integer'}, {'type': 'string'}]
        self.assertEqual(spec['required'], ['maybe', 'port'])
        for same in ('bars', 'maybe', 'any', 'plain', 'color'):
            self.assertEqual(spec['properties'][same], SPEC['properties'][same])
        self.assertEqual(spec['properties']['port']['anyOf'], either)
        self.assertEqual(spec['properties']['limited'], dict(SPEC['properties']['limited'], allOf=[{'anyOf': either}]))
        for embedded in ('pod', 'whole'):
            shown = spec['properties'][embedded]
            self.assertEqual(shown['required'], ['kind', 'apiVersion'])
            self.assertEqual(shown['properties']['metadata']['allOf'], [{'$ref': V3 + META + 'ObjectMeta'}])
        bag = self.v3['components']['schemas'][PREFIX + 'Bag']
        self.assertEqual(set(bag['properties']), {'apiVersion', 'kind', 'metadata'})

    def test_v2_says_what_old_clients_cope_with(self):
        foo = self.v2['definitions'][PREFIX + 'Foo']
        self.assertEqual(foo['properties']['metadata']['$ref'], V2 + META + 'ObjectMeta')
        spec = foo['properties']['spec']
        self.assertEqual(spec['required'], ['port'], 'what may be null cannot be asked for')
        self.assertEqual(spec['properties']['bars'], SPEC['properties']['bars'])
        self.assertEqual(spec['properties']['maybe'], {})
        self.assertEqual(spec['properties']['any'], {'x-kubernetes-preserve-unknown-fields': True})
        for name in ('port', 'limited', 'plain'):
            self.assertEqual(spec['properties'][name], {'x-kubernetes-int-or-string': True})
        self.assertEqual(spec['properties']['color'], {'type': 'string'})
        self.assertEqual(set(spec['properties']['pod']['properties']), {'apiVersion', 'kind', 'metadata', 'spec'})
        self.assertEqual(spec['properties']['whole'], {'x-kubernetes-embedded-resource': True, 'x-kubernetes-preserve-unknown-fields': True})
        bag = self.v2['definitions'][PREFIX + 'Bag']
        self.assertEqual(bag, {'type': 'object', 'x-kubernetes-group-version-kind': [{'group': GROUP, 'kind': 'Bag', 'version': 'v1'}]})

    def test_lists_are_defined(self):
        for definitions, prefix in ((self.v2['definitions'], V2), (self.v3['components']['schemas'], V3)):
            shown = definitions[PREFIX + 'FooList']
            self.assertEqual(shown['required'], ['items'])
            self.assertEqual(shown['properties']['items']['items'], {'$ref': prefix + PREFIX + 'Foo'})
            self.assertEqual(shown['x-kubernetes-group-version-kind'], [{'group': GROUP, 'kind': 'FooList', 'version': 'v1'}])
            self.assertEqual(shown['x-kubernetes-selectable-fields'], [{'fieldPath': 'spec.color'}])
            self.assertIn(META + 'ListMeta', definitions)

    def test_operations_are_those_of_custom_resources(self):
        paths = self.v3['paths']
        root = '/apis/%s/v1/' % GROUP
        self.assertNotIn(root, paths)
        self.assertFalse([path for path in paths if '/watch/' in path])
        one = paths[root + 'namespaces/{namespace}/bags/{name}']
        self.assertEqual(one['get']['operationId'], 'readDocsE2eExampleComV1NamespacedBag')
        self.assertEqual(one['get']['tags'], ['docsE2eExampleCom_v1'])
        self.assertEqual([p['name'] for p in one['get']['parameters']], ['resourceVersion'])
        self.assertEqual(set(one['patch']['responses']), {'200', '401'})
        self.assertEqual(set(one['put']['requestBody']['content']), {'application/json', 'application/yaml'})
        self.assertIn(root + 'namespaces/{namespace}/bags/{name}/status', paths)
        many = paths[root + 'namespaces/{namespace}/bags']
        self.assertEqual(set(many['get']['responses']['200']['content']), {'application/json', 'application/yaml'})
        self.assertNotIn('requestBody', many['delete'])

    def test_kubectl_explains(self):
        for binary in kubectls():
            def explain(what, binary=binary):
                return self.server.kubectl(binary, 'explain', what)
            for what, pattern in (
                    ('foos', r'(?s)Foo CRD for Testing.*apiVersion.*<string>.*APIVersion defines.*spec.*<Object>.*Specification of Foo'),
                    ('foos.metadata', r"(?s)Standard object's metadata.*creationTimestamp.*<string>.*CreationTimestamp is a timestamp"),
                    ('foos.spec.bars', r'(?s)bars.*<\[\]Object>.*List of Bars and their specs.*bazs.*<\[\]string>.*List of Bazs.*name.*<string>.*Name of Bar')):
                self.assertRegex(explain(what), re.compile(pattern), binary)
            missing = self.server.kubectl(binary, 'explain', 'foos.spec.none', check=False)
            self.assertIn('field "none" does not exist', missing.stderr)


if __name__ == '__main__':
    unittest.main()
