"""Requests in /metrics and the log, and warnings of deprecated versions; clients/metrics_test.py compares them with kube-apiserver's."""
import gzip
import re
import threading
import unittest

from harness import Server, wait_for

MAPS = '/api/v1/namespaces/default/configmaps'
LIMITS = '/apis/networking.k8s.io/v1beta1/ipaddresses'
SHORT = ' apf_pl="exempt" apf_fs="exempt" apf_iseats=1 apf_fseats=0 apf_additionalLatency="0s"'


class RequestMetrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server('--runtime-config=api/all=true', '-v=3')
        cls.addClassCleanup(cls.server.stop)

    def series(self, name):
        text = self.server.request('GET', '/metrics')[2]
        return {labels: float(value) for labels, value in re.findall(r'^%s\{([^}]*)\} (\S+)$' % name, text, re.M)}

    def labels(self, verb, scope, resource='configmaps', subresource='', group='', version='v1'):
        return ('component="apiserver",group="%s",resource="%s",scope="%s",subresource="%s",verb="%s",version="%s"'
                % (group, resource, scope, subresource, verb, version))

    def test_an_open_watch_is_shown_and_its_events_are_counted(self):
        connection = self.server.connect()
        connection.request('GET', MAPS + '?watch=1&timeoutSeconds=60')
        response = connection.getresponse()
        watch = self.labels('WATCH', 'namespace')
        self.assertEqual(self.series('apiserver_longrunning_requests')[watch], 1)
        self.server.request('POST', MAPS, {'metadata': {'name': 'watched'}})
        self.assertIn(b'watched', response.readline())
        events = 'group="",resource="configmaps",version="v1"'
        self.assertGreaterEqual(self.series('apiserver_watch_events_total')[events], 1)
        self.assertGreaterEqual(self.series('apiserver_watch_events_sizes_count')[events], 1)
        connection.close()
        self.assertTrue(wait_for(lambda: self.series('apiserver_longrunning_requests')[watch] == 0))
        self.assertTrue(wait_for(lambda: self.series('apiserver_request_duration_seconds_count').get(
            watch.replace(',group', ',dry_run="",group', 1)) == 1))

    def test_every_code_verb_and_dry_run_has_its_series(self):
        secrets = MAPS.replace('configmaps', 'secrets')
        self.server.request('POST', secrets + '?dryRun=All', {'metadata': {'name': 'dry'}})
        self.server.request('GET', secrets + '/none')
        found = self.series('apiserver_request_total')
        self.assertEqual(found['code="201",component="apiserver",dry_run="All",group="",resource="secrets",scope="resource",subresource="",'
                               'verb="POST",version="v1"'], 1)
        self.assertEqual(found['code="404",component="apiserver",dry_run="",group="",resource="secrets",scope="resource",subresource="",'
                               'verb="GET",version="v1"'], 1)

    def test_a_deprecated_version_warns_and_is_counted(self):
        code, headers, _ = self.server.request('GET', LIMITS)
        self.assertEqual((code, headers['Warning']),
                         (200, '299 - "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+"'))
        self.assertNotIn('Warning', self.server.request('GET', LIMITS.replace('v1beta1', 'v1'))[1])
        found = self.series('apiserver_requested_deprecated_apis')
        self.assertEqual(found['group="networking.k8s.io",removed_release="1.37",resource="ipaddresses",subresource="",version="v1beta1"'], 1)
        self.server.request('GET', '/api/v1/namespaces/default/endpoints')
        self.assertEqual(self.series('apiserver_requested_deprecated_apis')[
            'group="",removed_release="",resource="endpoints",subresource="",version="v1"'], 1)

    def test_the_log_line_of_a_request_says_where_it_was_put(self):
        self.server.request('GET', MAPS + '/logged', headers={'Audit-ID': 'a' * 100})
        line = wait_for(lambda: next((each for each in self.server.text().splitlines() if MAPS + '/logged' in each), None))
        self.assertIn('verb="GET"', line)
        self.assertIn('audit-ID="%s" ' % ('a' * 64), line)
        self.assertRegex(line, re.escape(SHORT) + r' apf_execution_time="[0-9.]+ms" resp=404$')

    def test_an_audit_id_comes_back_as_it_was_sent(self):
        for length in (1, 64, 65, 1000):
            self.assertEqual(self.server.request('GET', '/version', headers={'Audit-ID': 'b' * length})[1]['Audit-Id'], 'b' * length)

    def test_requests_that_run_are_dumped(self):
        dump = self.server.request('GET', '/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1')[2].splitlines()
        self.assertEqual([cell.strip() for cell in dump[0].split(',')][-8:],
                         ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'])
        own = [[cell.strip() for cell in line.split(',')] for line in dump if 'dump_requests' in line]
        self.assertEqual([(row[:4], row[11:13]) for row in own],
                         [(['exempt', 'exempt', '-1', '-1'], ['get', '/debug/api_priority_and_fairness/dump_requests'])])

    def test_lists_cost_what_they_hold_in_memory(self):
        for i in range(60):
            self.server.request('POST', MAPS, {'metadata': {'name': 'wide-%d' % i}, 'data': {'k': 'x' * 20000}})

        def wide(path):
            seats = self.series('apiserver_flowcontrol_work_estimated_seats_sum')
            before = seats['flow_schema="exempt",priority_level="exempt"']
            self.server.request('GET', path)
            after = self.series('apiserver_flowcontrol_work_estimated_seats_sum')
            return after['flow_schema="exempt",priority_level="exempt"'] - before
        revision = self.server.request('GET', MAPS + '?limit=1')[2]['metadata']['resourceVersion']
        # The count of stored objects is up to ten seconds old; each scrape takes a seat.
        exact = MAPS + '?limit=50&resourceVersion=' + revision
        self.assertTrue(wait_for(lambda: wide(exact) >= 10), 'a megabyte is at least ten seats')
        self.assertLess(wide(MAPS + '?limit=1&resourceVersion=' + revision), 8)

    def test_the_protobuf_form_has_what_the_text_has(self):
        accept = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'
        connection = self.server.connect()
        connection.request('GET', '/metrics', headers={'Accept': accept})
        response = connection.getresponse()
        self.assertEqual(response.getheader('Content-Type'),
                         'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=underscores')
        names = [name.decode() for name, _ in families(response.read())]
        text = self.server.request('GET', '/metrics')[2]
        self.assertEqual(names, sorted(names))
        self.assertEqual(set(names) - set(re.findall(r'^# HELP (\w+)', text, re.M)), set())
        self.assertIn('apiserver_request_total', names)

    def scrape(self, headers):
        """(response headers, text)"""
        connection = self.server.connect()
        connection.request('GET', '/metrics', headers=headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return dict(response.getheaders()), (gzip.decompress(body) if response.getheader('Content-Encoding') else body).decode()

    def test_the_compressed_form_is_the_text(self):
        def stable(text):
            # Values differ between two scrapes, and durations may have further series.
            return [re.sub(r' \S+$', '', line) for line in text.splitlines() if line.startswith('# ') or 'configmaps' in line]
        for i in range(3):
            headers, packed = self.scrape({'Accept-Encoding': 'gzip'})
            self.assertEqual((headers['Content-Encoding'], headers['Vary']), ('gzip', 'Accept-Encoding'))
            headers, plain = self.scrape({})
            self.assertNotIn('Content-Encoding', headers)
            self.assertEqual(stable(packed), stable(plain))
            self.server.request('GET', MAPS + '/none-%d' % i)
            self.server.request('POST', MAPS, {'metadata': {'name': 'scraped-%d' % i}})
        names = re.findall(r'^# HELP (\w+)', plain, re.M)
        self.assertEqual(names, sorted(set(names)))

    def test_scrapes_at_the_same_time_get_whole_texts(self):
        texts = []

        def scrape(encoding):
            for _ in range(20):
                texts.append(self.scrape({'Accept-Encoding': encoding})[1])
        threads = [threading.Thread(target=scrape, args=(encoding,)) for encoding in ('gzip', 'identity', 'gzip', 'identity')]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(texts), 80)
        for text in texts:
            self.assertTrue(text.endswith('\n'))
            self.assertIn('\n# TYPE apiserver_request_total counter\n', text)
            self.assertIn('\n# TYPE workqueue_work_duration_seconds histogram\n', text)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def families(data):
    """(name, help) of each message."""
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        end, fields = at + size, {}
        while at < end:
            key, at = varint(data, at)
            if key & 7 == 0:
                _, at = varint(data, at)
                continue
            length, at = varint(data, at)
            fields.setdefault(key >> 3, data[at:at + length])
            at += length
        assert at == end
        yield fields[1], fields[2]


if __name__ == '__main__':
    unittest.main()
