"""Answers of an admission webhook by name: functions of the handler and the review's request, as ../e2e/admission_webhooks_test.py calls them.
They return members of the response, or send something else and return None."""
import base64
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../e2e')]
from admission_webhooks_test import add, closed, half, hang, patch  # noqa: E402


def says(**members):
    return lambda *_: members


def status(**members):
    return says(allowed=False, status=members)


def raw(body, code=200, **headers):
    """These bytes; a header that is None is not sent."""
    def give(handler, _):
        handler.send_response(code)
        sent = dict({'Content-Type': 'application/json', 'Content-Length': str(len(body))}, **{k.replace('_', '-'): v for k, v in headers.items()})
        for name, value in sent.items():
            if value is not None:
                handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)
    return give


def whole(change, code=200, encode=lambda text: text, **headers):
    """The review that allows, changed; `change` may return another value to send."""
    def give(handler, request):
        review = {'apiVersion': handler.review['apiVersion'], 'kind': 'AdmissionReview', 'response': {'uid': request['uid'], 'allowed': True}}
        got = change(review)
        raw(encode(json.dumps(review if got is None else got).encode()), code, **headers)(handler, request)
    return give


def bytes_on_wire(data):
    """Bytes that are not HTTP, or incomplete."""
    def give(handler, _):
        handler.wfile.write(data)
        handler.close_connection = True
    return give


def without(member):
    return whole(lambda review: review['response'].pop(member) and None)


def patch_text(text, **members):
    return says(**dict({'patchType': 'JSONPatch', 'patch': base64.b64encode(text.encode()).decode()}, **members))


FAILURE = {'kind': 'Status', 'apiVersion': 'v1', 'status': 'Failure', 'message': 'down "today"', 'code': 418, 'reason': 'Forbidden'}
CAUSES = [{'reason': 'FieldValueInvalid', 'message': 'no', 'field': 'data.a'}, {'message': 'only'}, {}]
DENIALS = {
    'deny': says(allowed=False),
    'null status': says(allowed=False, status=None),
    'empty status': status(),
    'status that is a text': says(allowed=False, status='x'),
    'status that is a list': says(allowed=False, status=[]),
    **{'code %d' % code: status(code=code, message='m') for code in (-1, 0, 100, 200, 302, 399, 400, 401, 403, 404, 405, 409, 410, 418, 422, 429, 500,
                                                                     503, 504, 599, 600, 700, 999)},
    'code that is a text': status(code='403'),
    'code that is too large': status(code=1 << 40),
    'message': status(message='not "here"\nnever'),
    'message of other letters': status(message='nö 漢字 😀 <&>'),
    'long message': status(message='x' * 5000),
    'message that is a number': status(message=7),
    'reason': status(reason='Forbidden'),
    'another reason': status(reason='Because', code=403),
    'reason and message': status(reason='Because', message='so', code=409),
    'success': status(status='Success', code=200, message='done'),
    'another word': status(status='Maybe', message='m'),
    'metadata': status(message='m', metadata={'resourceVersion': '7', 'continue': 'c', 'remainingItemCount': 3, 'selfLink': '/x'}),
    'kind of the status': status(kind='Status', apiVersion='v1', message='m'),
    'details': status(message='m', code=422, reason='Invalid', details={'name': 'n', 'group': 'g', 'kind': 'k', 'uid': 'u', 'causes': CAUSES,
                                                                        'retryAfterSeconds': 7}),
    'no causes': status(message='m', details={'causes': []}),
    'null causes': status(message='m', details={'name': 'x', 'causes': None}),
    'empty details': status(message='m', details={}),
    'retry later': status(message='m', code=429, reason='TooManyRequests', details={'retryAfterSeconds': 3}),
    'retry at once': status(message='m', code=429, details={'retryAfterSeconds': 0}),
    'unknown members': status(message='m', other=1, details={'other': 2}),
    'deny with a patch': lambda *_: dict(patch(add('/data', {'x': 'y'})), allowed=False),
    'deny with warnings': says(allowed=False, warnings=['careful'], status={'message': 'm'}),
    'deny with annotations': says(allowed=False, auditAnnotations={'why': 'so'}),
}
EXTRAS = {
    'allow': says(),
    'allow with a status': says(status={'code': 403, 'message': 'not told', 'reason': 'x'}),
    'allowed that is a text': says(allowed='true'),
    'allowed that is null': says(allowed=None),
    'no allowed': without('allowed'),
    'warning': says(warnings=['first "thing"', 'second']),
    'no warnings': says(warnings=[]),
    'null warnings': says(warnings=None),
    'empty warning': says(warnings=['', 'x', '']),
    'equal warnings': says(warnings=['a', 'a', 'b', 'a']),
    'long warning': says(warnings=['w' * 257]),
    'longer warning': says(warnings=['w' * 3000]),
    'many warnings': says(warnings=['warning number %d' % i for i in range(300)]),
    'many long warnings': says(warnings=['%02d' % i + 'w' * 298 for i in range(30)]),
    'warning of other letters': says(warnings=['nö 漢字', '😀' * 70]),
    'long warning of other letters': says(warnings=['漢' * 300]),
    'warning with controls': says(warnings=['a\nb\tc\x01\x7fd\\e', '\x85\u200b']),
    'warning that is a number': says(warnings=[7]),
    'warning that is null': says(warnings=[None, 'a']),
    'warnings that are a text': says(warnings='x'),
    'annotations': says(auditAnnotations={'b': '2', 'a': '1', 'c': ''}),
    'bad annotations': says(auditAnnotations={'a b': '1', '': '2', 'a/b': '3', 'é': '4', '-a': '5', 'x' * 64: '6', 'x' * 63: '7', 'A.b_c-d': '8'}),
    'long annotation': says(auditAnnotations={'a': 'x' * 3000}),
    'annotation that is a number': says(auditAnnotations={'a': 1}),
    'annotation that is null': says(auditAnnotations={'a': None}),
    'annotations that are a list': says(auditAnnotations=['a']),
    'null annotations': says(auditAnnotations=None),
    'another uid': says(uid='other'),
    'empty uid': says(uid=''),
    'no uid': without('uid'),
    'uid that is a number': says(uid=7),
    'unknown member': says(other={'a': 1}),
    'another case': whole(lambda review: review['response'].update(Allowed=False, allowed=True)),
}
PATCH_TYPES = {
    'patch': lambda *_: patch(add('/data', {'x': 'y'})),
    'patch without a type': lambda *_: {'patch': patch(add('/data', {'x': 'y'}))['patch']},
    'null type': lambda *_: dict(patch(add('/data', {'x': 'y'})), patchType=None),
    'empty type': lambda *_: dict(patch(add('/data', {'x': 'y'})), patchType=''),
    'another type': lambda *_: dict(patch(add('/data', {'x': 'y'})), patchType='MergePatch', status={'code': 422}),
    'type that is a number': lambda *_: dict(patch(add('/data', {'x': 'y'})), patchType=7),
    'type without a patch': says(patchType='JSONPatch'),
    'empty patch with a type': says(patchType='JSONPatch', patch=''),
    'null patch with a type': says(patchType='JSONPatch', patch=None),
    'empty patch': says(patch=''),
    'no base64': says(patchType='JSONPatch', patch='!!'),
    'base64 without padding': says(patchType='JSONPatch', patch='W10'),
    'base64 of lines': says(patchType='JSONPatch', patch='W1\n0='),
    'patch that is a list': says(patchType='JSONPatch', patch=[{'op': 'add'}]),
    'patch that is a number': says(patchType='JSONPatch', patch=7),
    'no JSON': patch_text('nothing'),
    'cut JSON': patch_text('[{"op":"add"'),
    'empty list': patch_text('[]'),
    'null': patch_text('null'),
    'an object': patch_text('{}'),
    'a text': patch_text('"x"'),
    'list of numbers': patch_text('[1]'),
    'list of null': patch_text('[null]'),
    'something behind': patch_text('[] []'),
}
REVIEWS = {
    'no response': whole(lambda review: review.pop('response') and None),
    'null response': whole(lambda review: review.update(response=None)),
    'list as response': whole(lambda review: review.update(response=[])),
    'empty response': whole(lambda review: review.update(response={})),
    'another kind': whole(lambda review: review.update(kind='Other')),
    'no kind': whole(lambda review: review.pop('kind') and None),
    'no version': whole(lambda review: review.pop('apiVersion') and None),
    'neither': whole(lambda review: {'response': review['response']}),
    'other version': whole(lambda review: review.update(apiVersion='admission.k8s.io/' + ('v1' if 'beta' in review['apiVersion'] else 'v1beta1'))),
    'unknown version': whole(lambda review: review.update(apiVersion='admission.k8s.io/v2')),
    'another group': whole(lambda review: review.update(apiVersion='example.com/v1')),
    'the core group': whole(lambda review: review.update(apiVersion='v1')),
    'too many slashes': whole(lambda review: review.update(apiVersion='a/b/c')),
    'number as kind': whole(lambda review: review.update(kind=7)),
    'a Status': whole(lambda _: FAILURE),
    'a DeleteOptions': whole(lambda _: {'kind': 'DeleteOptions', 'apiVersion': 'v1'}),
    'the request too': lambda handler, request: whole(lambda review: review.update(request=request))(handler, request),
    'a broken request too': whole(lambda review: review.update(request=7)),
    'another answer type': whole(lambda _: None, Content_Type='text/plain'),
    'no answer type': whole(lambda _: None, Content_Type=None),
    'unknown answer type': whole(lambda _: None, Content_Type='application/x-other'),
    'protobuf answer type': whole(lambda _: None, Content_Type='application/vnd.kubernetes.protobuf'),
    'strange answer type': whole(lambda _: None, Content_Type='//;;'),
    'packed': whole(lambda _: None, encode=gzip.compress, Content_Encoding='gzip'),
    'YAML': raw(b'kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nresponse: {allowed: false}\n', Content_Type='application/yaml'),
    **{name: raw(text) for name, text in (('nothing', b''), ('spaces', b' \n'), ('a word', b'hello'), ('HTML', b'<html></html>'), ('a list', b'[]'),
                                          ('null', b'null'), ('cut', b'{"kind":"AdmissionReview"'), ('two', b'{} {}'), ('bad letters', b'{"kind":"\xff"}'))},
}
TEXT = {'Content_Type': 'text/plain'}
CODES = {
    **{'code %d with a text' % code: raw(b' no "thing" \n', code, **TEXT)
       for code in (301, 302, 307, 400, 401, 403, 404, 405, 406, 409, 415, 418, 422, 429, 500, 501, 502, 503, 504, 599)},
    **{'code %d with JSON' % code: raw(b'{"a":1}', code) for code in (400, 403, 415, 500)},
    **{'code %d with a Status' % code: raw(json.dumps(FAILURE).encode(), code) for code in (302, 404, 500)},
    **{'code %d with the answer' % code: whole(lambda _: None, code) for code in (201, 202, 203, 205, 206, 207, 226, 404, 500)},
    'code 204': raw(b'', 204, Content_Length=None),
    'code 304': raw(b'', 304, Content_Length=None),
    '302 elsewhere': raw(b'moved', 302, Location='/elsewhere', **TEXT),
    '307 elsewhere': raw(b'moved', 307, Location='/elsewhere', **TEXT),
    '308 to another server': raw(b'', 308, Location='https://127.0.0.1:1/'),
    '500 without a type': raw(b'oops', 500, Content_Type=None),
    '503 with a pause': raw(b'', 503, Retry_After='1'),
}
BROKEN = {
    'closed': closed,
    'half': half,
    'hang': hang,
    'no HTTP': bytes_on_wire(b'hello there, this is not HTTP\r\n\r\n'),
    'half a header': bytes_on_wire(b'HTTP/1.1 200 OK\r\nContent-Ty'),
    'half a chunk': bytes_on_wire(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"kind"'),
    'no chunk': bytes_on_wire(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
    'wrong length': bytes_on_wire(b'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}'),
    'wrong code': bytes_on_wire(b'HTTP/1.1 abc OK\r\n\r\n'),
    'no length': bytes_on_wire(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"kind":"AdmissionReview"}'),
}
ALL = {'%s: %s' % (table, name): answer for table, answers in (('denial', DENIALS), ('extra', EXTRAS), ('patch type', PATCH_TYPES),
                                                               ('review', REVIEWS), ('code', CODES), ('broken', BROKEN)) for name, answer in answers.items()}
