"""Errors of lists of each kind for unsupported field labels: those of a real kube-apiserver and of the built server."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kube_apiserver import SideBySide, listed  # noqa: E402

LABELS = ('metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.type', 'status.phase', 'spec.host', 'x')


class Labels(SideBySide):
    flags = ('--runtime-config=api/all=true', '--feature-gates=PodCertificateRequest=true,ClusterTrustBundle=true')

    def test_every_kind_is_found_by_the_labels_it_is_found_by_upstream(self):
        kinds = [{(group, resource['name'], 'watch' in resource['verbs']) for group, resource in listed(server)} for server in self.servers]
        reports = []
        self.assertEqual(kinds[1] - kinds[0], set())
        for group, name, watched in sorted(kinds[0] & kinds[1]):
            for query in ['?fieldSelector=%s%%3Dv' % label for label in LABELS] + ['?watch=1&fieldSelector=x%3Dv'] * watched:
                want, got = (self.said(server, '%s/%s%s' % (group, name, query)) for server in self.servers)
                if want != got:
                    reports.append('%s/%s%s: %s, not %s' % (group, name, query, got, want))
        self.assertEqual(reports, [])

    @staticmethod
    def said(server, path):
        code, _, answer = server.request('GET', path)
        return code, answer['message'] if code != 200 else ''


if __name__ == '__main__':
    unittest.main()
