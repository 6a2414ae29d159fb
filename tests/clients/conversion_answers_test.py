"""Responses of a conversion webhook, and their handling by a real kube-apiserver and the built server: the same message for each response.

Both servers call one webhook, whose response each case sets; the object is read, listed, created and replaced through the version that needs
the webhook."""
import copy
import http.server
import json
import os
import re
import ssl
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
from conversion_test import CRDS, GROUP, Webhook, definition  # noqa: E402
from harness import wait_for  # noqa: E402
from kube_apiserver import SideBySide  # noqa: E402

UID = re.compile(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')
JSON, MERGE = 'application/json', 'application/merge-patch+json'


class Answering(Webhook):
    """A webhook that converts, unless `give` makes (code, headers, body) from the request and the correct response."""
    give = None

    def handler(self):
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                right = webhook.answer(review)
                right['apiVersion'] = review['apiVersion']
                code, headers, body = webhook.give(review, right) if webhook.give else (200, {}, right)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(code)
                for name, value in dict({'Content-Type': JSON}, **headers).items():
                    if value is not None:
                        self.send_header(name, value)
                self.send_header('Content-Length', str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        return Handler


def changed(change):
    """The correct response with a change."""
    def give(_, right):
        body = copy.deepcopy(right)
        got = change(body)
        return 200, {}, body if got is None else got
    return give


def text(data, code=200, content_type=JSON):
    return lambda *_: (code, {'Content-Type': content_type}, data.encode())


def response(**members):
    return changed(lambda body: body['response'].update(members))


def each(change):
    """The converted objects, changed one by one."""
    return changed(lambda body: [change(item) for item in body['response']['convertedObjects']] and None)


def last(value):
    """Replaces the last of the converted objects."""
    return changed(lambda body: body['response']['convertedObjects'].__setitem__(-1, value))


def metadata(**members):
    return each(lambda item: item['metadata'].update(members))


CASES = {
    # ---- the kind of the answer
    'another kind': changed(lambda body: body.update(kind='Other')),
    'no kind': changed(lambda body: body.pop('kind') and None),
    'no version': changed(lambda body: body.pop('apiVersion') and None),
    'neither kind nor version': changed(lambda body: {'response': body['response']}),
    'an empty object': text('{}'),
    'another group': changed(lambda body: body.update(apiVersion='example.com/v1')),
    'another group without a version': changed(lambda body: body.update(apiVersion='example.com/')),
    'a version that is not known': changed(lambda body: body.update(apiVersion='apiextensions.k8s.io/v2')),
    'the other version': changed(lambda body: body.update(
        apiVersion='apiextensions.k8s.io/' + ('v1' if body['apiVersion'].endswith('v1beta1') else 'v1beta1'))),
    'the core group': changed(lambda body: body.update(apiVersion='v1')),
    'too many slashes': changed(lambda body: body.update(apiVersion='a/b/c')),
    'a number as kind': changed(lambda body: body.update(kind=7)),
    'a list as version': changed(lambda body: body.update(apiVersion=[])),
    'a definition': text('{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1"}'),
    'an options object': text('{"kind":"DeleteOptions","apiVersion":"apiextensions.k8s.io/v1"}'),
    'a list of groups': text('{"kind":"APIGroupList","apiVersion":"v1"}'),
    'a failed Status': text('{"kind":"Status","apiVersion":"v1","status":"Failure","message":"down"}'),
    'a successful Status': text('{"kind":"Status","apiVersion":"v1","status":"Success"}'),
    'an admission review': text('{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}'),
    # ---- its text
    'nothing': text(''),
    'nothing with another code and type': text('', 201, 'text/plain'),
    'spaces': text('  \n'),
    'a word': text('hello'),
    'HTML': text('<html><body>hello</body></html>', 200, 'text/html'),
    'a text': text('"hello"'),
    'a list': text('[]'),
    'a number': text('7'),
    'true': text('true'),
    'null': text('null'),
    'a cut object': text('{"kind":"ConversionReview"'),
    'a colon too many': text('{"kind"::1}'),
    'something behind': text('{} {}'),
    # ---- the response
    'no response': changed(lambda body: body.pop('response') and None),
    'a null response': changed(lambda body: body.update(response=None)),
    'a response that is a text': changed(lambda body: body.update(response='x')),
    'a response that is a list': changed(lambda body: body.update(response=[])),
    'an empty response': changed(lambda body: body.update(response={})),
    'another uid': response(uid='other'),
    'no uid': changed(lambda body: body['response'].pop('uid') and None),
    'an empty uid': response(uid=''),
    'a number as uid': response(uid=7),
    'no result': changed(lambda body: body['response'].pop('result') and None),
    'a null result': response(result=None),
    'an empty result': response(result={}),
    'a result that is a text': response(result='Success'),
    'a failure': response(result={'status': 'Failure'}),
    'a failure with a message': response(result={'status': 'Failure', 'message': 'not "today"'}),
    'a failure with a code': response(result={'status': 'Failure', 'code': 422, 'reason': 'Invalid'}),
    'another status': response(result={'status': 'success'}),
    'a message without a status': response(result={'message': 'what'}),
    'a number as status': response(result={'status': 1}),
    'a text as code': response(result={'status': 'Success', 'code': 'x'}),
    # ---- the objects
    'no objects': changed(lambda body: body['response'].pop('convertedObjects') and None),
    'null for objects': response(convertedObjects=None),
    'an empty list': response(convertedObjects=[]),
    'a map for objects': response(convertedObjects={}),
    'one more': changed(lambda body: body['response']['convertedObjects'].append({})),
    'an object that is null': last(None),
    'an object that is a number': last(7),
    'an object that is a text': last('x'),
    'an object that is a list': last([]),
    'an object that is true': last(True),
    'an object that is empty': last({}),
    'an object without a kind': each(lambda item: item.pop('kind')),
    'an object without a version': each(lambda item: item.pop('apiVersion')),
    'an object with an empty kind': each(lambda item: item.update(kind='')),
    'an object of another kind': each(lambda item: item.update(kind='Other')),
    'an object of another version': each(lambda item: item.update(apiVersion=GROUP + '/v9')),
    'an object of the old version': each(lambda item: item.update(apiVersion=GROUP + '/v1')),
    'an object of another group': each(lambda item: item.update(apiVersion='example.com/v2')),
    'an object of the core group': each(lambda item: item.update(apiVersion='v2')),
    # ---- apiVersion, kind and metadata
    'another name': metadata(name='two'),
    'another namespace': metadata(namespace='two'),
    'another uid of an object': metadata(uid='two'),
    'another name and uid': metadata(name='two', uid='two'),
    'a number as name': metadata(name=7),
    'no name': each(lambda item: item['metadata'].pop('name')),
    'no metadata': each(lambda item: item.pop('metadata')),
    'null metadata': each(lambda item: item.update(metadata=None)),
    'metadata that is a text': each(lambda item: item.update(metadata='x')),
    'labels that are a text': metadata(labels='x'),
    'labels that are a list': metadata(labels=[]),
    'a label that is a number': metadata(labels={'a': 1}),
    'a label that is a fraction': metadata(labels={'a': 1.5}),
    'a label that is null': metadata(labels={'a': None}),
    'a label that is true': metadata(labels={'a': True}),
    'a label that is a map': metadata(labels={'a': {}}),
    'a label that is wrong': metadata(labels={'a': 'b c'}),
    'a label whose key is wrong': metadata(labels={'a b': 'c'}),
    'null labels': metadata(labels=None),
    'annotations that are a number': metadata(annotations=7),
    'an annotation that is a list': metadata(annotations={'a': []}),
    'an annotation whose key is wrong': metadata(annotations={'a b': 'c'}),
    'other labels and annotations': metadata(labels={'a': 'b'}, annotations={'c': 'd'}),
    'other metadata': metadata(generation=77, resourceVersion='1', finalizers=['x'], creationTimestamp=None),
    # ---- codes
    '500 with a text': text('crashed', 500, 'text/plain'),
    '500 with a text of another type': text('crashed', 500),
    '500 without a type': lambda *_: (500, {'Content-Type': None}, b' crashed "here"\n'),
    '500 with a Status': text('{"kind":"Status","apiVersion":"v1","status":"Failure","message":"down"}', 500),
    '500 with a Status of success': text('{"kind":"Status","apiVersion":"v1","status":"Success","message":"down"}', 500),
    '500 with a Status without a kind': text('{"status":"Failure","message":"down"}', 500),
    '500 with a Status without a message': text('{"kind":"Status","apiVersion":"v1","status":"Failure"}', 500),
    '500 with an empty object': text('{}', 500),
    '500 with the answer': lambda _, right: (500, {}, right),
    **{'%d with a %s' % (code, kind.partition('/')[0]): text('the text', code, kind)
       for code in (400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 418, 422, 429, 500, 501, 503, 504) for kind in ('text/plain', JSON)},
    '406 without a text': text('', 406, 'text/plain'),
    '302 without a place': text('moved', 302, 'text/plain'),
    '201 with the answer': lambda _, right: (201, {}, right),
    '206 with the answer': lambda _, right: (206, {}, right),
    '207 with the answer': lambda _, right: (207, {}, right),
    'the answer as another type': lambda _, right: (200, {'Content-Type': 'text/html; charset=utf-8'}, right),
    'the answer as YAML': lambda _, right: (200, {'Content-Type': 'application/yaml'}, json.dumps(right, indent=1).replace('{', '{ ', 1).encode()),
}


class ConversionAnswers(SideBySide):
    maxDiff = None

    def define(self, review, kind):
        """Creates two objects, stored in v1; returns the path of v2."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.webhook = Answering(folder.name)
        self.addCleanup(self.webhook.stop)
        self.webhook.review = review
        client = {'url': 'https://127.0.0.1:%d/convert' % self.webhook.port, 'caBundle': self.webhook.ca}
        plural = kind.lower() + 's'
        path = '/apis/%s/%%s/namespaces/default/%s' % (GROUP, plural)
        for server in self.servers:
            code, _, made = server.request('POST', CRDS, definition(plural, kind, client, review))
            self.assertEqual(code, 201, made)
        for server in self.servers:
            self.assertTrue(wait_for(lambda server=server: self.established(server, '%s/%s.%s' % (CRDS, plural, GROUP)), 60))
            code, _, made = server.request('POST', path % 'v1', {'apiVersion': GROUP + '/v1', 'kind': kind, 'metadata': {'name': 'one'},
                                                                 'spec': {'size': 2}})
            self.assertEqual(code, 201, made)
        return path % 'v2'

    @staticmethod
    def established(server, path):
        conditions = server.request('GET', path)[2]['status'].get('conditions') or ()
        return any(each['type'] == 'Established' and each['status'] == 'True' for each in conditions)

    @staticmethod
    def said(server, method, path, body=None):
        code, _, answer = server.request(method, path, body)
        if code < 300:
            return code, {key: value for key, value in answer['metadata'].items() if key in ('name', 'labels', 'annotations', 'finalizers')}
        # The error quotes the webhook's response; the webhook gets other metadata (docs/compatibility.md).
        text = json.dumps({key: value for key, value in answer.items() if key != 'metadata'}, sort_keys=True)
        text = re.sub(r"is missing in '.*'", "is missing in '<what it said>'", UID.sub('<uid>', text))
        return code, text.replace('UID: <uid> !=', 'UID:  !=')

    def compare(self, review, kind):
        path = self.define(review, kind)
        stored = path.replace('/v2/', '/v1/')
        wrong = []
        new = {'apiVersion': GROUP + '/v2', 'kind': kind, 'metadata': {'name': 'one'}, 'spec': {'dimensions': {'size': 3}}}
        for i, (name, give) in enumerate(CASES.items()):
            self.webhook.give = give
            for server in self.servers:  # unchanged objects are not converted again
                body = json.dumps({'spec': {'size': i + 1}})
                self.assertEqual(server.request('PATCH', stored + '/one', body, {'Content-Type': MERGE})[0], 200)
            want, got = ([self.said(server, 'GET', path + '/one'), self.said(server, 'POST', path + '?dryRun=All', new)] for server in self.servers)
            if want != got:
                wrong.append('%s:\n  want %s\n  got  %s' % (name, want, got))
        print('%s: %d of %d responses are reported differently' % (review, len(wrong), len(CASES)), file=sys.stderr)
        self.assertEqual(wrong, [], '\n'.join(wrong))

    def test_each_answer_to_a_review_of_v1(self):
        self.compare('v1', 'Foo')

    def test_each_answer_to_a_review_of_v1beta1(self):
        self.compare('v1beta1', 'Bar')


if __name__ == '__main__':
    unittest.main(verbosity=2)
