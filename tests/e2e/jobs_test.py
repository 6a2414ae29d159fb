"""Jobs and cron jobs as clients see them: tables, selectors, warnings."""
import unittest

from harness import Served, main, namespace

TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}
MERGE = {'Content-Type': 'application/merge-patch+json'}
JOBS, CRON_JOBS = ('/apis/batch/v1/namespaces/work/' + resource for resource in ('jobs', 'cronjobs'))
TEMPLATE = {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'i'}]}}


class Jobs(Served, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.request('POST', '/api/v1/namespaces', namespace('work'))

    def make_job(self, name, **spec):
        body = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': name}, 'spec': dict({'template': TEMPLATE}, **spec)}
        status, _, made = self.server.request('POST', JOBS, body)
        self.assertEqual(status, 201, made)
        return made

    def report(self, name, status):
        code, _, answer = self.server.request('PATCH', '%s/%s/status' % (JOBS, name), {'status': status}, headers=MERGE)
        self.assertEqual(code, 200, answer)

    def cells(self, path):
        row = self.server.request('GET', path, headers=TABLE)[2]['rows'][0]
        return row['cells']

    def test_tables_say_how_far_jobs_are(self):
        made = self.make_job('told', completions=3, parallelism=2)
        self.assertEqual(self.cells(JOBS + '/told')[:4], ['told', 'Running', '0/3', ''])
        conditions = [{'type': kind, 'status': 'True'} for kind in ('SuccessCriteriaMet', 'Complete')]
        self.report('told', {'succeeded': 3, 'startTime': '2026-01-01T00:00:00Z', 'completionTime': '2026-01-01T00:01:05Z', 'conditions': conditions})
        cells = self.cells(JOBS + '/told')
        self.assertEqual(cells[:4], ['told', 'Complete', '3/3', '65s'])
        self.assertEqual(cells[5:], ['c', 'i', 'batch.kubernetes.io/controller-uid=' + made['metadata']['uid']])

    def test_jobs_are_found_by_their_successes(self):
        self.make_job('none')
        self.make_job('two', parallelism=2)
        self.report('two', {'succeeded': 2})
        found = self.server.request('GET', JOBS + '?fieldSelector=status.successful%3D2')[2]['items']
        self.assertEqual([job['metadata']['name'] for job in found], ['two'])

    def test_an_unsupported_field_selector_of_jobs_has_its_own_error(self):
        for method, query in (('GET', ''), ('GET', '&watch=1&timeoutSeconds=1'), ('DELETE', '')):
            code, _, answer = self.server.request(method, JOBS + '?fieldSelector=status.failed%3D2' + query)
            self.assertEqual((code, answer['message']), (400, 'field label "status.failed" not supported for Job'))

    def test_deleting_a_job_warns_about_its_pods(self):
        self.make_job('left')
        gone = self.make_job('gone')
        warning = self.server.request('DELETE', JOBS + '/left')[1].get('Warning', '')
        self.assertIn('child pods are preserved by default when jobs are deleted', warning)
        left = self.server.request('GET', JOBS + '/left')[2]
        self.assertEqual(left['metadata']['finalizers'], ['orphan'])
        status, headers, _ = self.server.request('DELETE', JOBS + '/gone?propagationPolicy=Background')
        self.assertEqual((status, headers.get('Warning')), (200, None), gone)

    def test_a_job_that_ended_stays_so(self):
        self.make_job('over')
        self.report('over', {'startTime': '2026-01-01T00:00:00Z', 'conditions': [{'type': kind, 'status': 'True'} for kind in ('FailureTarget', 'Failed')]})
        status, _, answer = self.server.request('PATCH', JOBS + '/over/status', {'status': {'conditions': None}}, headers=MERGE)
        self.assertEqual(status, 422, answer)
        self.assertIn('cannot disable the terminal Failed=True condition', answer['message'])

    def test_cron_jobs_show_their_schedule(self):
        body = {'apiVersion': 'batch/v1', 'kind': 'CronJob', 'metadata': {'name': 'c'},
                'spec': {'schedule': '@daily', 'timeZone': 'Europe/Paris', 'jobTemplate': {'spec': {'template': TEMPLATE}}}}
        self.assertEqual(self.server.request('POST', CRON_JOBS, body)[0], 201)
        cells = self.cells(CRON_JOBS + '/c')
        self.assertEqual(cells[:6], ['c', '@daily', 'Europe/Paris', 'False', 0, '<none>'])
        self.assertEqual(cells[7:], ['c', 'i', '<none>'])


if __name__ == '__main__':
    main()
