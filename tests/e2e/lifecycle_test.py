"""Start, drain and stop of the real process: signals, exit codes, what survives kill -9, several instances, API enablement."""
import concurrent.futures
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from harness import BINARY, PLUGINS, START_SECONDS, Server, configmap, main

SIGNALS = ['ShutdownInitiated', 'AfterShutdownDelayDuration', 'PreShutdownHooksStopped', 'NotAcceptingNewRequest', 'InFlightRequestsDrained',
           'HTTPServerStoppedListening']


class Lifecycle(unittest.TestCase):
    def test_a_client_that_stops_reading_a_list_does_not_hold_the_stop(self):
        with Server() as server:
            for i in range(24):
                made = server.request('POST', '/api/v1/namespaces/default/configmaps', configmap('m%d' % i, k=chr(97 + i) * 900000))
                self.assertEqual(made[0], 201, made)
            stalled = socket.socket()
            stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stalled.connect(('127.0.0.1', server.port))
            with server.tls.wrap_socket(stalled, server_hostname='127.0.0.1') as client:
                client.sendall(b'GET /api/v1/configmaps HTTP/1.1\r\nHost: a\r\n\r\n')
                self.assertIn(b'200 OK', client.recv(1024))
                # Regression: its time limit was a minute, that of a request.
                self.assertEqual(server.terminate(40), 0, server.text()[-3000:])

    def test_term_under_load_fails_no_accepted_request_and_logs_the_signals_in_order(self):
        with Server() as server:
            stop = threading.Event()
            failures, done = [], []

            def load(worker):
                conn = server.connect()
                number = 0
                while not stop.is_set():
                    number += 1
                    try:
                        conn.request('POST', '/api/v1/namespaces/default/configmaps', json.dumps(configmap('l%d-%d' % (worker, number), k='v')),
                                     {'Content-Type': 'application/json'})
                    except OSError:
                        return  # never sent: the listener or the idle connection was closed first
                    try:
                        response = conn.getresponse()
                        response.read()
                    except http.client.RemoteDisconnected:
                        return  # an idle connection closed before the request was read
                    except (OSError, http.client.HTTPException) as error:
                        failures.append(repr(error))
                        return
                    if response.status == 201:
                        done.append('l%d-%d' % (worker, number))
                    elif response.status not in (429, 503):
                        failures.append(response.status)
                    if response.getheader('Connection') == 'close':
                        return
            watch = server.connect()
            watch.request('GET', '/api/v1/namespaces/default/configmaps?watch=1')
            response = watch.getresponse()
            self.assertEqual(response.status, 200)
            workers = [threading.Thread(target=load, args=(i,)) for i in range(8)]
            for worker in workers:
                worker.start()
            while len(done) < 50 and not failures:
                time.sleep(0.01)
            code = server.terminate()
            stop.set()
            for worker in workers:
                worker.join()
            self.assertEqual(code, 0, server.text()[-3000:])
            self.assertEqual(failures, [])
            text = server.text()
            positions = [text.find('name=' + name) for name in SIGNALS]
            self.assertNotIn(-1, positions, text[-3000:])
            order = dict(zip(SIGNALS, positions))
            self.assertLess(order['ShutdownInitiated'], order['AfterShutdownDelayDuration'])
            self.assertLess(order['AfterShutdownDelayDuration'], order['NotAcceptingNewRequest'])
            self.assertLess(order['PreShutdownHooksStopped'], order['NotAcceptingNewRequest'])
            self.assertLess(order['NotAcceptingNewRequest'], order['InFlightRequestsDrained'])
            # Acknowledged writes exist after a restart.
            with Server(data_dir=server.dir) as again:
                names = {i['metadata']['name'] for i in again.request('GET', '/api/v1/namespaces/default/configmaps')[2]['items']}
                self.assertEqual(set(done) - names, set())

    def test_every_file_but_certificates_is_readable_by_its_owner_only(self):
        with Server() as server:
            self.assertEqual(server.request('POST', '/api/v1/namespaces/default/configmaps', configmap('a', k='v'))[0], 201)
            data = os.path.join(server.dir, 'data')
            paths = [os.path.join(folder, name) for folder, _, names in os.walk(data) for name in names]
            self.assertTrue(any('CURRENT' in path for path in paths), paths)
            self.assertEqual([path for path in paths if os.stat(path).st_mode & 0o077 and not path.endswith('.crt')], [])

    def test_kill_9_loses_nothing_that_was_acknowledged(self):
        with Server() as server:
            acknowledged = []

            def write(worker):
                conn = server.connect()
                try:
                    for number in range(100000):
                        name = 'k%d-%d' % (worker, number)
                        conn.request('POST', '/api/v1/namespaces/default/configmaps', json.dumps(configmap(name, k='v')), {'Content-Type': 'application/json'})
                        response = conn.getresponse()
                        response.read()
                        if response.status == 201:
                            acknowledged.append(name)
                except (OSError, http.client.HTTPException):
                    pass
            workers = [threading.Thread(target=write, args=(i,)) for i in range(8)]
            for worker in workers:
                worker.start()
            while len(acknowledged) < 300:
                time.sleep(0.01)
            server.kill()
            for worker in workers:
                worker.join()
            with Server(data_dir=server.dir) as again:
                names = {i['metadata']['name'] for i in again.request('GET', '/api/v1/namespaces/default/configmaps')[2]['items']}
                self.assertEqual(set(acknowledged) - names, set())

    def wait_until_healthy(self, server):
        deadline = time.monotonic() + START_SECONDS
        while server.request('GET', '/livez/etcd')[0] != 200:
            self.assertLess(time.monotonic(), deadline, server.text()[-3000:])
            time.sleep(0.02)

    def test_a_store_that_could_not_write_for_a_while_takes_writes_again_without_a_restart(self):
        maps = '/api/v1/namespaces/default/configmaps'
        # Python ignores SIGXFSZ, and so do its child processes: a write past the limit fails, as on a full disk.
        with Server(restore_signals=False) as server:
            pid = server.process.pid
            before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            self.assertEqual(server.request('POST', maps, configmap('before', k='v'))[0], 201)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, before[1]))
            code, _, body = server.request('POST', maps, configmap('during', k='v'))
            self.assertEqual((code, body['kind']), (500, 'Status'))
            self.assertEqual(server.request('GET', '/livez/etcd')[0], 500)
            self.assertEqual(server.request('GET', maps + '/before')[0], 200)
            self.assertEqual(server.request('GET', maps + '/during')[0], 404)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
            self.wait_until_healthy(server)
            self.assertEqual(server.request('POST', maps, configmap('after', k='v'))[0], 201)
            self.assertEqual(server.request('POST', maps, configmap('during', k='w'))[0], 201)
            server.kill()
            with Server(data_dir=server.dir) as again:
                items = again.request('GET', maps)[2]['items']
                self.assertEqual({i['metadata']['name']: i['data']['k'] for i in items if i['metadata']['name'] != 'kube-root-ca.crt'},
                                 {'before': 'v', 'during': 'w', 'after': 'v'})

    def test_a_failed_write_that_reached_the_disk_is_reported_to_watches(self):
        maps = '/api/v1/namespaces/default/configmaps'
        with tempfile.TemporaryDirectory() as folder:
            flag = os.path.join(folder, 'fail')
            # Without leases there are no other writes meanwhile.
            with Server('--runtime-config=coordination.k8s.io/v1=false',
                        env={'LD_PRELOAD': os.environ['FAIL_SYNC'], 'FAIL_SYNC_WHILE': flag}) as server:
                self.assertEqual(server.request('POST', maps, configmap('before', k='v'))[0], 201)
                version = server.request('GET', maps)[2]['metadata']['resourceVersion']
                watch = server.connect()
                watch.request('GET', maps + '?watch=1&resourceVersion=' + version)
                events = watch.getresponse()
                open(flag, 'w', encoding='utf-8').close()
                self.assertEqual(server.request('POST', maps, configmap('during', k='v'))[0], 500)
                self.assertEqual(server.request('GET', '/livez/etcd')[0], 500)
                self.assertEqual(server.request('GET', maps + '/during')[0], 404)
                os.remove(flag)
                self.wait_until_healthy(server)
                # The log's last record was written but not synced: it exists when the store is reopened, and is valid from then on.
                event = json.loads(events.readline())
                self.assertEqual((event['type'], event['object']['metadata']['name']), ('ADDED', 'during'))
                self.assertEqual(server.request('GET', maps + '/during')[2], event['object'] | {'kind': 'ConfigMap', 'apiVersion': 'v1'})
                self.assertEqual(server.request('POST', maps, configmap('after', k='v'))[0], 201)
                later = json.loads(events.readline())
                self.assertEqual((later['type'], later['object']['metadata']['name']), ('ADDED', 'after'))
                self.assertGreater(int(later['object']['metadata']['resourceVersion']), int(event['object']['metadata']['resourceVersion']))
                server.kill()
                with Server(data_dir=server.dir) as again:
                    names = {i['metadata']['name'] for i in again.request('GET', maps)[2]['items']}
                    self.assertEqual(names - {'kube-root-ca.crt'}, {'before', 'during', 'after'})

    def test_a_second_signal_ends_the_process_at_once_with_code_1(self):
        with Server('--shutdown-delay-duration=60s') as server:
            server.process.send_signal(signal.SIGTERM)
            while 'ShutdownInitiated' not in server.text():
                time.sleep(0.01)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(30), 1)

    def test_the_delay_keeps_serving_with_readyz_red(self):
        with Server('--shutdown-delay-duration=15s') as server:  # time for three requests on any machine
            server.process.send_signal(signal.SIGTERM)
            while 'ShutdownInitiated' not in server.text():
                time.sleep(0.01)
            self.assertEqual(server.request('GET', '/readyz')[0], 500)
            self.assertEqual(server.request('GET', '/livez')[0], 200)
            self.assertEqual(server.request('GET', '/api/v1/namespaces')[0], 200)
            self.assertEqual(server.process.wait(60), 0)

    def test_the_endpoints_of_kubernetes_are_this_server_and_are_gone_before_it_stops_serving(self):
        endpoints = '/api/v1/namespaces/default/endpoints/kubernetes'

        def wait_for(server, wanted):
            deadline = time.monotonic() + START_SECONDS
            while time.monotonic() < deadline:
                code, _, body = server.request('GET', endpoints)
                if wanted(code, body):
                    return body
                time.sleep(0.02)
            self.fail('endpoints of kubernetes: %s\n%s' % (body, server.text()[-3000:]))
        with Server('--advertise-address=192.0.2.7', '--shutdown-delay-duration=60s') as server:
            body = wait_for(server, lambda code, _: code == 200)
            self.assertEqual(body['subsets'], [{'addresses': [{'ip': '192.0.2.7'}], 'ports': [{'name': 'https', 'port': server.port, 'protocol': 'TCP'}]}])
            self.assertEqual(body['metadata']['labels'], {'endpointslice.kubernetes.io/skip-mirror': 'true'})
            server.process.send_signal(signal.SIGTERM)
            wait_for(server, lambda code, body: code == 200 and 'subsets' not in body)
            server.kill()
            # Killed: the next server finds this one's address, and replaces it.
            with Server('--advertise-address=192.0.2.8', data_dir=server.dir) as again:
                body = wait_for(again, lambda code, body: 'subsets' in body)
                self.assertEqual(body['subsets'][0]['addresses'], [{'ip': '192.0.2.8'}])
                self.assertEqual(again.terminate(), 0)
                self.assertIn('name=PreShutdownHooksStopped', again.text())

    def test_no_endpoints_of_kubernetes_if_they_are_unreachable_or_disabled(self):
        with Server('--advertise-address=127.0.0.1') as server:
            self.assertIn('no endpoints for service kubernetes: --advertise-address is a loopback address', server.text())
        with Server('--endpoint-reconciler-type=none', '--advertise-address=192.0.2.7', '--kubernetes-service-node-port=30123') as server:
            service = server.request('GET', '/api/v1/namespaces/default/services/kubernetes')[2]
            self.assertEqual((service['spec']['type'], service['spec']['ports'][0]['nodePort']), ('NodePort', 30123))
            self.assertEqual(service['spec']['ports'][0]['targetPort'], server.port)
            self.assertEqual(server.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes')[0], 404)

    def test_health_checks_are_counted_for_service_level_indicators(self):
        with Server() as server:
            self.assertEqual(server.request('GET', '/livez')[0], 200)
            code, headers, text = server.request('GET', '/metrics/slis')
            self.assertEqual((code, headers['Content-Type']), (200, 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'))
            self.assertIn('kubernetes_healthcheck{name="etcd",type="livez"} 1', text)
            self.assertIn('kubernetes_healthchecks_total{name="etcd",type="livez",status="success"} 1', text)
            self.assertIn('/metrics/slis', server.request('GET', '/')[2]['paths'])

    def test_unknown_paths_wait_for_the_signals_of_every_delegate(self):
        with Server() as server:
            chain = server.request('GET', '/debug/chain')[2]
            signals = {s['name']: s['fired'] for delegate in chain['chain'] for s in delegate.get('muxAndDiscoverySignals', [])}
            self.assertEqual(signals, {'APIServiceRegistrationControllerInitiated': True, 'CRDInformerHasNotSynced': True})

    def test_send_retry_after_answers_429_while_draining(self):
        with Server('--shutdown-send-retry-after', '--shutdown-watch-termination-grace-period=5s') as server:
            watch = server.connect()
            watch.request('GET', '/api/v1/configmaps?watch=1')
            self.assertEqual(watch.getresponse().status, 200)
            conn = server.connect()
            server.request('GET', '/livez', connection=conn)
            server.process.send_signal(signal.SIGTERM)
            seen = None
            for _ in range(2000):
                try:
                    status, headers, _ = server.request('GET', '/api/v1/namespaces', connection=conn)
                except (OSError, http.client.HTTPException):
                    break
                if status == 429:
                    seen = headers
                    break
                time.sleep(0.002)
            code = server.process.wait(60)
            self.assertEqual(code, 0)
            if seen is not None:  # the drain may end before the next request is read
                self.assertEqual(seen.get('Retry-After'), '5')

    def test_runtime_config_switches_groups_and_resources_off(self):
        with Server('--runtime-config=apps/v1=false') as server:
            groups = [g['name'] for g in server.request('GET', '/apis')[2]['groups']]
            self.assertNotIn('apps', groups)
            self.assertEqual(server.request('GET', '/apis/apps/v1/deployments')[0], 404)
        with Server('--runtime-config=apps/v1/deployments=false') as server:
            names = [r['name'] for r in server.request('GET', '/apis/apps/v1')[2]['resources']]
            self.assertNotIn('deployments', names)
            self.assertIn('daemonsets', names)
            self.assertEqual(server.request('GET', '/apis/apps/v1/deployments')[0], 404)
            self.assertEqual(server.request('GET', '/apis/apps/v1/daemonsets')[0], 200)

    def test_a_wrong_runtime_config_makes_startup_fail_and_lists_what_exists(self):
        with Server('--runtime-config=apsp/v1=false', wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('apsp/v1', server.text())
            self.assertIn('apps/v1', server.text())

    def test_a_server_without_the_core_group_runs(self):
        aggregation = 'apiregistration.k8s.io/v1=true'
        for switch in ('v1=false', 'api/ga=false,apiextensions.k8s.io/v1=true,' + aggregation, 'v1/namespaces=false',
                       'api/all=false,apps/v1=true,' + aggregation):
            with Server('--runtime-config=' + switch) as server:
                self.assertEqual(server.request('GET', '/api/v1/namespaces')[0], 404, switch)
                self.assertEqual(server.terminate(), 0)

    def test_a_server_without_its_register_of_group_versions_does_not_start(self):
        for switch in ('apiregistration.k8s.io/v1=false', 'apiregistration.k8s.io/v1/apiservices=false', 'api/ga=false'):
            with Server('--runtime-config=' + switch, wait=False) as server:
                self.assertNotEqual(server.process.wait(60), 0, switch)
                self.assertIn('--runtime-config: apiregistration.k8s.io/v1 must not be disabled', server.text())

    def test_subresources_are_no_keys_of_runtime_config(self):
        with Server('--runtime-config=apps/v1/deployments/scale=false', wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('runtime-config invalid key apps/v1/deployments/scale', server.text())

    def test_a_service_in_the_way_of_kubernetes_is_logged_and_does_not_stop_the_server(self):
        with Server('--service-cluster-ip-range=10.0.0.0/24') as server:
            services = '/api/v1/namespaces/default/services'
            thief = {'metadata': {'name': 'thief'}, 'spec': {'clusterIP': '10.0.0.1', 'ports': [{'port': 1}]}}
            # The server creates its service again when it is ready, and every ten seconds: either may be first.
            deadline = time.monotonic() + START_SECONDS
            while server.request('DELETE', services + '/kubernetes')[0] != 200 or server.request('POST', services, thief)[0] != 201:
                self.assertLess(time.monotonic(), deadline, server.text()[-3000:])
            self.assertEqual(server.terminate(), 0)
            with Server('--service-cluster-ip-range=10.0.0.0/24', data_dir=server.dir) as again:
                self.assertIn('unable to sync kubernetes service: ', again.text())
                self.assertEqual(again.request('DELETE', services + '/thief')[0], 200)
                self.assertEqual(again.terminate(), 0)

    def test_a_wrong_service_range_makes_startup_fail(self):
        for value, problem in (('foo', 'service-cluster-ip-range[0] is not a valid cidr'),
                               ('10.0.0.0/30', 'the service cluster IP range must be at least 8 IP addresses'),
                               ('fd00::/63', 'shortest allowed prefix length for service CIDR is 64, got 63'),
                               ('10.0.0.0/16,10.1.0.0/16', 'must be of different IP family'),
                               ('10.0.0.0/16,fd00::/112,fd01::/112', 'must not contain more than two entries')):
            with Server('--service-cluster-ip-range=' + value, wait=False) as server:
                self.assertEqual(server.process.wait(60), 1)
                self.assertIn(problem, server.text())

    def test_flag_errors_that_only_plugins_detect_are_reported_at_startup(self):
        with Server('--runtime-config=nope/v1=true', '--enable-admission-plugins=Nope', '--storage-backend=paper', wait=False) as server:
            self.assertEqual(server.process.wait(60), 1)
            for problem in ('nope/v1', 'Nope', 'paper'):
                self.assertIn(problem, server.text().rsplit('Error: ', 1)[1])

    def test_all_bad_flags_are_reported_at_once(self):
        done = subprocess.run([BINARY, '--secure-port=99999', '--goaway-chance=0.5', '--storage-backend=paper'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        for word in ('secure-port', 'goaway-chance', 'storage-backend'):
            self.assertIn(word, done.stderr + done.stdout)

    def test_instances_run_side_by_side_and_a_data_dir_has_one_owner(self):
        with Server() as one, Server() as two:
            self.assertNotEqual(one.port, two.port)
            one.request('POST', '/api/v1/namespaces/default/configmaps', configmap('only-in-one'))
            self.assertEqual(two.request('GET', '/api/v1/namespaces/default/configmaps/only-in-one')[0], 404)
            done = subprocess.run([BINARY, '--data-dir', os.path.join(one.dir, 'data'), '--plugin-dir', PLUGINS, '--secure-port=0'],
                                  capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(os.path.join(one.dir, 'data'), done.stdout + done.stderr)

    def test_the_debug_socket_answers_without_credentials(self):
        directory = tempfile.mkdtemp()
        path = os.path.join(directory, 'debug.sock')
        try:
            with Server('--debug-socket-path=' + path):
                client = socket.socket(socket.AF_UNIX)
                client.connect(path)
                client.sendall(b'GET /debug/chain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
                answer = b''
                while chunk := client.recv(65536):
                    answer += chunk
                client.close()
                self.assertTrue(answer.startswith(b'HTTP/1.1 200'), answer[:200])
                self.assertIn(b'"not found"', answer)
        finally:
            shutil.rmtree(directory)

    def test_sd_notify_says_ready(self):
        directory = tempfile.mkdtemp()
        path = os.path.join(directory, 'notify.sock')
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind(path)
        listener.settimeout(60)
        try:
            with Server(env={'NOTIFY_SOCKET': path}):
                self.assertIn(b'READY=1', listener.recv(4096))
        finally:
            listener.close()
            shutil.rmtree(directory)


if __name__ == '__main__':
    main()
