"""Checks that one order of events explains a History: the response of each call, the contents of each list, and the events of each watch.

The order is that of the watch from before the first call to after the last one; every problem found is one line."""
import bisect
import json

WRITES = ('create', 'update', 'merge', 'json', 'strategic', 'apply')
REFUSALS = {'create': (409,), 'update': (404, 409), 'merge': (404, 409), 'json': (404, 409), 'strategic': (404, 409), 'apply': (409,),
            'delete': (404, 409), 'get': (404,), 'list': (), 'collection': ()}


def version(obj):
    return int(obj['metadata']['resourceVersion'])


def plain(obj):
    """The object without members that list items lack, in a comparable form."""
    return json.dumps({k: v for k, v in obj.items() if k not in ('apiVersion', 'kind')}, sort_keys=True)


def side(obj):
    return (obj['metadata'].get('labels') or {}).get('side') if obj else None


class Order:
    """Every state of every name, from a list and the events after it."""

    def __init__(self, initial, events, problems):
        self.first = int(initial['metadata']['resourceVersion'])
        self.events, self.problems = events, problems
        self.states = {}  # name: [(version, object or None)]
        self.by_version = {}
        for item in initial['items']:
            self.states[item['metadata']['name']] = [(version(item), item)]
            self.by_version[version(item)] = item
        last = self.first
        for event in events:
            obj = event['object']
            if version(obj) <= last:
                problems.append('event %d comes behind %d' % (version(obj), last))
            last = version(obj)
            self.add(event['type'], obj)

    def add(self, kind, obj):
        name = obj['metadata']['name']
        states = self.states.setdefault(name, [(0, None)])
        before = states[-1][1]
        if kind == 'ADDED' and before is not None or kind in ('MODIFIED', 'DELETED') and before is None:
            self.problems.append('%s of %s at %d, which %s there' % (kind, name, version(obj), 'is not' if before is None else 'is already'))
        if before is not None and kind != 'ADDED' and before['metadata']['uid'] != obj['metadata']['uid']:
            self.problems.append('%s of %s at %d has another uid' % (kind, name, version(obj)))
        if kind == 'DELETED' and before is not None:
            last = json.loads(plain(obj))
            last['metadata']['resourceVersion'] = before['metadata']['resourceVersion']
            if plain(last) != plain(before):
                self.problems.append('DELETED of %s at %d does not show its last state' % (name, version(obj)))
        self.by_version[version(obj)] = obj
        states.append((version(obj), None if kind == 'DELETED' else obj))

    def at(self, name, when):
        states = self.states.get(name, [(0, None)])
        place = bisect.bisect_right([v for v, _ in states], when) - 1
        return states[place][1] if place >= 0 else None

    def before(self, name, when):
        return self.at(name, when - 1)

    def all_at(self, when):
        found = {name: self.at(name, when) for name in self.states}
        return {name: plain(obj) for name, obj in found.items() if obj is not None}

    def within(self, name, low, high):
        """The states of `name` at any moment of [low, high]."""
        states = self.states.get(name, [(0, None)])
        ends = [v for v, _ in states[1:]] + [float('inf')]
        return [obj for (begin, obj), end in zip(states, ends) if begin <= high and end > low]


class Check:
    def __init__(self, history):
        self.history, self.problems = history, []
        events = history.main.events
        self.order = Order(history.initial, events, self.problems)
        self.deleted = {e['object']['metadata']['uid']: version(e['object']) for e in events if e['type'] == 'DELETED'}
        self.effects = {}  # call: version it wrote
        self.claims()
        # The order of calls and versions is known only for calls with effects.
        self.ended = sorted((c.end, v) for c, v in self.effects.items())
        self.begun = sorted((c.begin, v) for c, v in self.effects.items())

    def run(self):
        for call in self.history.calls:
            self.answered(call)
        self.check_event_authors()
        self.watches()
        return self.problems

    def report(self, what, call):
        self.problems.append('%s: %r' % (what, call))

    def claims(self):
        self.authors, self.removers, self.swept = {}, {}, set()
        for call in self.history.calls:
            if call.code is None or call.code >= 300 or call.dry:
                continue
            if call.verb in WRITES:
                self.authors.setdefault(version(call.answer), []).append(call)
            elif call.verb == 'delete':
                uid = call.answer['details']['uid']
                self.removers.setdefault(uid, []).append(call)
                if uid in self.deleted:
                    self.effects[call] = self.deleted[uid]
                else:
                    self.report('no event tells of', call)
            elif call.verb == 'collection':
                self.swept.update(item['metadata']['name'] for item in call.answer['items'])
        for when, calls in self.authors.items():
            if when not in self.order.by_version:
                self.report('no event tells of', calls[0])
            elif len(calls) == 1 and when > self.order.first:
                self.effects[calls[0]] = when

    def check_event_authors(self):
        for event in self.order.events:
            obj = event['object']
            uid = obj['metadata']['uid']
            if event['type'] != 'DELETED':
                if version(obj) not in self.authors:
                    self.problems.append('no call wrote %s %s' % (event['type'], json.dumps(obj)))
            # As upstream, a collection is listed, and then deleted by name, so objects that were created again in between are deleted too.
            elif len(self.removers.get(uid, [])) > 1 or (uid not in self.removers and obj['metadata']['name'] not in self.swept):
                self.problems.append('%d calls deleted %s' % (len(self.removers.get(uid, [])), json.dumps(obj)))

    def window(self, call):
        """The versions between which the call took effect: not before calls that ended before it began, not after calls that began later."""
        over = bisect.bisect_left(self.ended, (call.begin, 0))
        low = max([v for _, v in self.ended[:over]] + [self.order.first])
        later = bisect.bisect_right(self.begun, (call.end, float('inf')))
        high = min([v for _, v in self.begun[later:]] + [float('inf')]) - 1
        return low, high

    def answered(self, call):
        low, high = self.window(call)
        if call.code >= 300:
            self.refused(call, low, high)
        elif call.verb == 'list':
            self.listed(call, low, high)
        elif call.verb == 'get':
            if plain(call.answer) not in [plain(o) for o in self.order.within(call.name, low, high) if o]:
                self.report('never was so in [%d, %s]' % (low, high), call)
        elif call.verb in WRITES and not call.dry:
            self.written(call, low, high)

    def refused(self, call, low, high):
        if call.code not in REFUSALS[call.verb]:
            return self.report('refused', call)
        states = self.order.within(call.name, low, high)
        sent = (call.sent or {}) if not isinstance(call.sent, list) else {}
        if call.code == 404 and None not in states:
            self.report('it was there all the time', call)
        if call.verb == 'create' and not any(states):
            self.report('it never was there', call)
        if call.code == 409 and call.verb in ('update', 'delete'):
            wanted = sent['preconditions'] if call.verb == 'delete' else sent['metadata']
            if 'resourceVersion' in wanted and all(o and version(o) == int(wanted['resourceVersion']) for o in states):
                self.report('it was of that version all the time', call)

    def written(self, call, low, high):
        when = version(call.answer)
        stored = self.order.by_version.get(when)
        if stored is None:
            return
        if plain(stored) != plain(call.answer):
            self.report('the event shows another object: %s' % plain(stored), call)
        if call in self.effects and not low < when <= high:
            self.report('out of [%d, %s]' % (low, high), call)
        base = self.order.before(call.name, when)
        changed = call in self.effects
        self.right_base(call, base, when, changed)
        sent = {'data': {'json': call.sent[0]['value']}} if call.verb == 'json' else call.sent
        kept = (base or {}).get('data') or {} if call.verb not in ('create', 'update') else {}
        if changed and call.answer.get('data', {}) != dict(kept, **sent['data']):
            self.report('is not what it makes of %s' % (base and plain(base)), call)
        if not changed and any(call.answer['data'].get(k) != v for k, v in sent['data'].items()):
            self.report('is not there', call)

    def right_base(self, call, base, when, changed):
        if call.verb == 'create' and (base is not None or not changed):
            self.report('it was there: %s' % (base and plain(base)), call)
        if call.verb in ('update', 'merge', 'json', 'strategic') and changed and base is None:
            self.report('it was not there', call)
        wanted = call.sent['metadata'].get('resourceVersion') if call.verb == 'update' else None
        if wanted and int(wanted) != when and (base is None or version(base) != int(wanted)):
            self.report('it was of another version: %s' % (base and plain(base)), call)

    def listed(self, call, low, high):
        whens = {int(page['metadata']['resourceVersion']) for page in call.pages}
        if len(whens) != 1:
            return self.report('pages of several versions', call)
        when = whens.pop()
        least = {'': low, 'limit=2': low, 'resourceVersion=0': 0}.get(call.query, call.asked)
        if when < least or when > high or ('Exact' in call.query and when != call.asked):
            self.report('version %d out of [%d, %s]' % (when, least, high), call)
        if when < self.order.first:
            return
        items = {i['metadata']['name']: plain(i) for page in call.pages for i in page['items']}
        if items != self.order.all_at(when) or len(items) != sum(len(page['items']) for page in call.pages):
            self.report('at %d there was %s' % (when, self.order.all_at(when)), call)

    def watches(self):
        h = self.history
        said = [(e['type'], plain(e['object'])) for e in h.main.events]
        resumed = [(e['type'], plain(e['object'])) for e in h.resumed.events]
        if resumed != [s for s, e in zip(said, h.main.events) if version(e['object']) > int(h.resumed_at)]:
            self.problems.append('the watch from %s received %s' % (h.resumed_at, resumed))
        events = [(e['type'], version(e['object']), e['object']['metadata']['name']) for e in h.selected.events]
        if events != self.of_side('left'):
            self.problems.append('the selecting watch received %s, not %s' % (events, self.of_side('left')))
        self.streamed(h.streamed.events, said)

    def of_side(self, wanted):
        found = []
        for event in self.order.events:
            obj = event['object']
            name, when = obj['metadata']['name'], version(obj)
            was, now = side(self.order.before(name, when)) == wanted, side(self.order.at(name, when)) == wanted
            if was or now:
                found.append(('MODIFIED' if was and now else 'ADDED' if now else 'DELETED', when, name))
        return found

    def streamed(self, events, said):
        marks = [i for i, e in enumerate(events) if e['type'] == 'BOOKMARK'
                 and 'k8s.io/initial-events-end' in (e['object']['metadata'].get('annotations') or {})]
        if len(marks) != 1:
            return self.problems.append('a streamed list has %d ends' % len(marks))
        when = version(events[marks[0]]['object'])
        items = {e['object']['metadata']['name']: plain(e['object']) for e in events[:marks[0]]}
        if items != self.order.all_at(when) or {e['type'] for e in events[:marks[0]]} - {'ADDED'}:
            self.problems.append('the streamed list at %d was %s, not %s' % (when, items, self.order.all_at(when)))
        rest = [(e['type'], plain(e['object'])) for e in events[marks[0]:] if e['type'] != 'BOOKMARK']
        if rest != [s for s, e in zip(said, self.history.main.events) if version(e['object']) > when]:
            self.problems.append('behind the streamed list at %d came %s' % (when, rest))
        return None


def check_survivors(history, listed):
    """After a crash: `listed` holds every acknowledged write and every delivered event, and no other object."""
    problems = []
    newest = {}  # name: (version, plain object or None)

    def seen(name, when, obj):
        if when > newest.get(name, (-1, None))[0]:
            newest[name] = (when, obj)
    for item in history.initial['items']:
        seen(item['metadata']['name'], version(item), plain(item))
    for event in (e for w in history.watches for e in w.events if e['type'] in ('ADDED', 'MODIFIED', 'DELETED') and w is not history.selected):
        seen(event['object']['metadata']['name'], version(event['object']), None if event['type'] == 'DELETED' else plain(event['object']))
    gone, swept = set(), set()
    for call in history.calls:
        if call.code is not None and call.code < 300 and not call.dry:
            if call.verb in WRITES:
                seen(call.name, version(call.answer), plain(call.answer))
            elif call.verb == 'delete':
                gone.add(call.answer['details']['uid'])
            elif call.verb == 'collection':
                swept.update(i['metadata']['name'] for i in call.answer['items'])
    open_calls = [c for c in history.calls if c.code is None and not c.dry]
    items = {i['metadata']['name']: i for i in listed['items']}
    for name in set(newest) | set(items):
        problems += check_one(name, items.get(name), newest.get(name, (0, None)), gone, name in swept, [c for c in open_calls if c.name in (name, None)])
    return problems


def check_one(name, item, newest, gone, swept, open_calls):
    when, known = newest
    if item is None:
        if known is None or swept or json.loads(known)['metadata']['uid'] in gone or any(c.verb in ('delete', 'collection') for c in open_calls):
            return []
        return ['%s is lost; it was %s' % (name, known)]
    if item['metadata']['uid'] in gone:
        return ['%s is back: it was deleted' % name]
    if version(item) < when:
        return ['%s went back to %d from %d' % (name, version(item), when)]
    if version(item) == when and plain(item) != known:
        return ['%s at %d was %s and is %s' % (name, when, known, plain(item))]
    if version(item) > when and not any(c.verb in WRITES for c in open_calls):
        return ['no call wrote %s' % plain(item)]
    return []
