"""Reads rules.tsv (the core group) and rules/GROUP.tsv: every place where kube-apiserver's sources report an error of an object, and the place here that reports the same.

Columns, divided by tabs; a line that begins with # is a comment:
  upstream   FILE:FUNCTION or FILE:FUNCTION#N, the Nth report of that function; FILE below the module k8s.io/kubernetes, or MODULE@/FILE
  path       the field path of the error; * is any index or key
  condition  when it is reported
  verb       create, update, both, status, or a subresource; several are divided by commas
  type       Invalid, Required, Forbidden, NotSupported, Duplicate, TooLong, TooMany, NotFound, Internal or TypeInvalid
  message    the text behind the type and the value; empty: the type has none.  {} is what differs
  here       FILE#POINTER (a JSON pointer in a schema), FILE:FUNCTION (C++); several are divided by blanks; -: missing; n/a: unreachable, and why
  example    JSON, see `Example`; empty: none

An example is a request that the server refuses with one cause (or message, if `status` is not 422) that is `says`, word by word:
  base    a base object: of recordings/wrong.jsonl by the name behind "wrong/", of rules_bases.json, or of rules/bases.json
  set     {JSON pointer: value}: what is changed of the base; {"repeat": [text or item, n]} is long; null removes, a last segment "-" appends, holders that are missing are made
  then    {JSON pointer: value}: the base (with `set`) is created, and what is changed then is sent with PUT; without it, POST with dryRun=All
  first   {"to": subresource, "set": {JSON pointer: value}}: what is changed of the object, and stored, before that
  to      the subresource that PUT is sent to ("status"); with `post`, a POST of that body
  status  422 if it is left out
  says    "field: message"; a list: all of them
"""
import copy
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
COLUMNS = ('upstream', 'path', 'condition', 'verb', 'type', 'message', 'here', 'example')
VERBS = {'create', 'update', 'both', 'status', 'resize', 'ephemeralcontainers', 'binding', 'eviction', 'finalize', 'scale', 'approval', 'token'}
TYPES = {'Invalid', 'Required', 'Forbidden', 'NotSupported', 'Duplicate', 'TooLong', 'TooMany', 'NotFound', 'Internal', 'TypeInvalid'}
NAMESPACE = 'rec'  # the one of the recordings' objects


def rows():
    """[(FILE:LINE, {column: text})…]"""
    files = ['rules.tsv'] + sorted(os.path.join('rules', name) for name in os.listdir(os.path.join(HERE, 'rules')) if name.endswith('.tsv'))
    return [row for file in files for row in rows_of(file)]


def rows_of(file):
    with open(os.path.join(HERE, file), encoding='utf-8') as f:
        lines = f.read().splitlines()
    head, *rest = [('%s:%d' % (file, i + 1), line.split('\t')) for i, line in enumerate(lines) if line and not line.startswith('#')]
    assert tuple(head[1]) == COLUMNS, head
    for place, cells in rest:
        assert len(cells) == len(COLUMNS), '%s has %d columns' % (place, len(cells))
    return [(place, dict(zip(COLUMNS, cells))) for place, cells in rest]


def bases():
    """{name: (path of the collection, object)}"""
    out = {}
    with open(os.path.join(HERE, 'recordings', 'wrong.jsonl'), encoding='utf-8') as f:
        for line in f:
            table = json.loads(line)
            if 'base' in table:
                out[table['id'].split('/', 1)[1]] = (table['do'].split()[1].split('?')[0], table['base'])
    for file in ('rules_bases.json', 'rules/bases.json'):
        with open(os.path.join(HERE, file), encoding='utf-8') as f:
            out.update({name: tuple(pair) for name, pair in json.load(f).items()})
    return out


def put(holder, way, value):
    key = way[0]
    if isinstance(holder, list):
        key = len(holder) if key == '-' else int(key)
        if key == len(holder):
            holder.append(None)
    if len(way) == 1:
        if value is not None:
            holder[key] = value
        elif isinstance(holder, list):
            del holder[key]
        else:
            holder.pop(key, None)
        return
    below = holder[key] if isinstance(holder, list) else holder.get(key)
    if below is None:
        below = holder[key] = [] if way[1] == '-' or way[1].isdigit() else {}
    put(below, way[1:], value)


def grown(value):
    """The value with repetitions expanded."""
    if isinstance(value, dict):
        if set(value) == {'repeat'}:
            what, count = value['repeat']
            return what * count if isinstance(what, str) else [copy.deepcopy(what) for _ in range(count)]
        return {key: grown(each) for key, each in value.items()}
    return [grown(each) for each in value] if isinstance(value, list) else value


def edited(base, changes):
    out = copy.deepcopy(base)
    for pointer, value in (changes or {}).items():
        put(out, [part.replace('~1', '/').replace('~0', '~') for part in pointer.split('/')[1:]], grown(copy.deepcopy(value)))
    return out


def said(body):
    """The errors of a response."""
    causes = (body.get('details') or {}).get('causes') if isinstance(body, dict) else None
    if body.get('reason') == 'Invalid' and causes:
        return ['%s: %s' % (cause.get('field', ''), cause.get('message')) for cause in causes]
    return [body.get('message', '')]


class Example:
    """One running example.  `request`: (method, path, body) -> (status, headers, body)."""

    def __init__(self, example, place, known):
        self.example, self.number = example, int(place.rpartition(':')[2])
        self.at, self.base = known[example['base']]

    def wanted(self):
        says = self.example['says']
        return self.example.get('status', 422), says if isinstance(says, list) else [says]

    def sent(self, request):
        """(status, body) of the example's request."""
        example, made = self.example, edited(self.base, self.example.get('set'))
        if 'then' not in example and 'post' not in example:
            return self.answer(request('POST', self.at + '?dryRun=All', made))
        name = made['metadata']['name'] = example.get('name') or ('%s-%d' % (made['metadata']['name'], self.number))[:63]
        path = '%s/%s' % (self.at, name)
        status, _, live = request('POST', self.at, made)
        try:
            if status != 201:
                raise AssertionError('the base is refused: %s' % json.dumps(live)[:600])
            if 'first' in example:
                first = example['first']
                status, _, live = request('PUT', '%s/%s' % (path, first['to']), edited(live, first['set']))
                if status != 200:
                    raise AssertionError('the first change is refused: %s' % json.dumps(live)[:600])
            to = path + ('/' + example['to'] if 'to' in example else '')
            if 'post' in example:
                return self.answer(request('POST', to + '?dryRun=All', example['post']))
            return self.answer(request('PUT', to + '?dryRun=All', edited(live, example['then'])))
        finally:
            request('DELETE', path + '?gracePeriodSeconds=0&propagationPolicy=Background')

    @staticmethod
    def answer(answered):
        status, _, body = answered
        return status, body

    def problem(self, request):
        """The reason why it fails; None if it passes."""
        status, wanted = self.wanted()
        got, body = self.sent(request)
        texts = said(body) if isinstance(body, dict) else [body]
        lacks = [text for text in wanted if text not in texts]
        if got == status and not lacks:
            return None
        return 'wanted %d %s, got %d %s' % (status, json.dumps(lacks or wanted), got, json.dumps(texts)[:700] if got >= 400 else '')
