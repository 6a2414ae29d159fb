"""Random objects of a structural schema, and changes of them: mostly valid, so that an error is reported alone."""
import re

TEXTS = ('', 'Bad Value!', 'other-value', 'a' * 64, 'a' * 300, 'UPPER', 'a.b', 'a/b', '-', '1', '100m', '50%', '10.0.0.1', '*.example.com',
         'example.com', '/path', '//', 'https://x.y/z', '5s', '1h30m', '10', 'None', '2020-01-01T00:00:00Z', 'Exact', 'ns/name', '[', '\u00e4')
NUMBERS = (-1, 0, 1, 7, 100, 101, 443, 65535, 65536, 1 << 31, 1 << 40, 1e20)
OTHERS = (None, {}, [], [''], 7, 'x', True, 1.5, {'a': 'b'}, [1], -1, '')
FORMATS = {'date-time': '2024-05-01T10:00:00Z', 'duration': '5s', 'byte': 'YWJj'}
DEEP = 7  # below this depth only required members are made


def fits(schema, text):
    if not schema.get('minLength', 0) <= len(text) <= schema.get('maxLength', 1 << 30):
        return False
    try:
        return re.search(schema.get('pattern', ''), text) is not None
    except re.error:  # Go's syntax knows more
        return False


def text_of(schema, rng):
    if schema.get('format') in FORMATS:
        return FORMATS[schema['format']]
    fitting = [text for text in TEXTS if fits(schema, text)]
    return rng.choice(fitting if fitting and rng.random() < 0.9 else TEXTS)


def list_of(schema, rng, chance, depth):
    least = schema.get('minItems', 0)
    count = least if depth > DEEP + 2 else max(least, rng.choice((0, 1, 1, 2, 3)))
    return [value_of(schema.get('items', {}), rng, chance, depth + 1) for _ in range(min(count, 6))]


def object_of(schema, rng, chance, depth):
    share = chance if depth < 4 else chance / 2 if depth < DEEP else 0.05
    required = schema.get('required', ())
    out = {name: value_of(below, rng, chance, depth + 1) for name, below in schema.get('properties', {}).items()
           if name in required or rng.random() < share}
    others = schema.get('additionalProperties')
    if isinstance(others, dict):
        for name in rng.sample(('a', 'key.example.com/x', 'other'), rng.choice((0, 1, 2))):
            out[name] = value_of(others, rng, chance, depth + 1)
    if not out and schema.get('x-kubernetes-preserve-unknown-fields'):
        out['free'] = rng.choice((1, 'x', {'y': [1]}))
    return out


def value_of(schema, rng, chance=0.35, depth=0):
    if schema.get('x-kubernetes-int-or-string'):
        return rng.choice((1, 0, '50%', 'http', '1h', '100m', '1Gi'))
    if 'enum' in schema and rng.random() < 0.95:
        return rng.choice(schema['enum'])
    if schema.get('x-kubernetes-embedded-resource'):
        return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}}
    if schema.get('nullable') and rng.random() < 0.1:
        return None
    kind = schema.get('type')
    if kind == 'string':
        return text_of(schema, rng)
    if kind == 'boolean':
        return rng.random() < 0.5
    if kind in ('integer', 'number'):
        return int(rng.choice((schema.get('minimum', 0), schema.get('maximum', 100), 1, 80)))
    if kind == 'array':
        return list_of(schema, rng, chance, depth)
    return object_of(schema, rng, chance, depth) if kind == 'object' else rng.choice(('x', 1, {'a': 1}, [1]))


def escaped(key):
    return str(key).replace('~', '~0').replace('/', '~1')


def places(value, at=''):
    """[(pointer, value)] of all values in an object."""
    out = [(at, value)] if at else []
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key != 'managedFields':
            out += places(below, '%s/%s' % (at, escaped(key)))
    return out


def schema_at(schema, pointer):
    for part in pointer.split('/')[1:]:
        name = part.replace('~1', '/').replace('~0', '~')
        others = schema.get('additionalProperties')
        schema = schema.get('properties', {}).get(name) or (others if isinstance(others, dict) else schema.get('items')) or {}
    return schema


def change(rng, value, schema):
    """(pointer, operation, value) as recordings have them."""
    at, old = rng.choice([place for place in places(value) if place[0].startswith(('/spec', '/status', '/data')) or rng.random() < 0.05])
    below = schema_at(schema, at)
    chance = rng.random()
    if chance < 0.2:
        return at, 'del', None
    if chance < 0.3 and isinstance(old, list) and old:
        return at, 'dup', None
    if chance < 0.34 and isinstance(old, dict):
        return at + '/unknownMember', 'set', 1
    if chance < 0.6 and isinstance(old, dict) and below.get('properties'):
        name = rng.choice(list(below['properties']))
        return at + '/' + escaped(name), 'set', value_of(below['properties'][name], rng, depth=3)
    if chance < 0.75:
        return at, 'set', value_of(below, rng, depth=3)
    if chance < 0.85:
        return at, 'set', rng.choice(OTHERS)
    return at, 'set', rng.choice(NUMBERS if isinstance(old, (int, float)) and not isinstance(old, bool) else TEXTS)
