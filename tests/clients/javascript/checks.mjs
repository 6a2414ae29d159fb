// Checks of a running server with the JavaScript client: one line for each, "ok NAME" or "FAIL NAME: why".  argv: a kubeconfig.
// The library has no leader election: what one needs of a lease is checked instead.
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

function same(got, wanted) {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
}

async function refused(code, text, call) {
  try {
    await call;
  } catch (error) {
    same(error.code, code);
    if (!JSON.stringify(error.body).includes(text)) throw new Error(`${error.body} does not say ${text}`);
    return;
  }
  throw new Error('it was not refused');
}

async function eventually(what, holds) {
  for (const end = Date.now() + 60000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) if (await holds()) return;
  throw new Error(`${what} did not come about`);
}

const configMap = (namespace, name, data) => core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data } });
const deployment = {
  metadata: { name: 'web' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'example.com/c:1' }] } } },
};

const checks = {
  async typed(namespace) {
    const made = await apps.createNamespacedDeployment({ namespace, body: deployment });
    same(made.spec.strategy.type, 'RollingUpdate');
    made.spec.replicas = 3;
    same((await apps.replaceNamespacedDeployment({ namespace, name: 'web', body: made })).metadata.generation, 2);
    await refused(409, 'the object has been modified', apps.replaceNamespacedDeployment({ namespace, name: 'web', body: made }));
    same((await apps.listNamespacedDeployment({ namespace, labelSelector: '!none' })).items.length, 1);
    await apps.deleteNamespacedDeployment({ namespace, name: 'web' });
    await refused(404, 'not found', apps.readNamespacedDeployment({ namespace, name: 'web' }));
  },
  async patches(namespace) {
    await apps.createNamespacedDeployment({ namespace, body: deployment });
    const patch = async (kind, body) => (await apps.patchNamespacedDeployment({ namespace, name: 'web', body },
      k8s.setHeaderOptions('Content-Type', kind))).spec;
    same((await patch(k8s.PatchStrategy.MergePatch, { spec: { replicas: 4 } })).replicas, 4);
    same((await patch(k8s.PatchStrategy.JsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 5 }])).replicas, 5);
    const both = await patch(k8s.PatchStrategy.StrategicMergePatch, { spec: { template: { spec: { containers: [{ name: 'd', image: 'i' }] } } } });
    same(both.template.spec.containers.map((c) => c.name).sort(), ['c', 'd']);
  },
  async apply(namespace) {
    const apply = (manager, value, force) => objects.patch({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace }, data: { k: value } },
      undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
    same((await apply('one', '1')).data, { k: '1' });
    await refused(409, 'conflict with', apply('two', '2'));
    same((await apply('two', '2', true)).data, { k: '2' });
    same((await core.readNamespacedConfigMap({ namespace, name: 'a' })).metadata.managedFields.map((m) => m.manager), ['two']);
  },
  async watch(namespace) {
    const first = await configMap(namespace, 'first');
    const seen = [];
    const watching = await new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`,
      { resourceVersion: first.metadata.resourceVersion }, (type, object) => seen.push([type, object.metadata.name]), () => {});
    await configMap(namespace, 'second', { k: 'v' });
    await core.deleteNamespacedConfigMap({ namespace, name: 'first' });
    await eventually('two events', () => seen.length === 2);
    watching.abort();
    same(seen, [['ADDED', 'second'], ['DELETED', 'first']]);
  },
  async informer(namespace) {
    await configMap(namespace, 'before');
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
    const seen = { add: [], update: [], delete: [] };
    for (const kind of Object.keys(seen)) informer.on(kind, (object) => seen[kind].push(object.metadata.name));
    await informer.start();
    await eventually('the first one', () => seen.add.includes('before'));
    await configMap(namespace, 'behind');
    await eventually('the second one', () => seen.add.includes('behind'));
    await core.patchNamespacedConfigMap({ namespace, name: 'behind', body: { data: { a: 'b' } } },
      k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch));
    await eventually('the change', () => seen.update.includes('behind'));
    await core.deleteNamespacedConfigMap({ namespace, name: 'before' });
    await eventually('the deletion', () => seen.delete.includes('before'));
    same(informer.list().map((object) => object.metadata.name), ['behind']);
    await informer.stop();
  },
  async pages(namespace) {
    for (let number = 0; number < 7; number++) await configMap(namespace, `p${number}`);
    const found = [];
    for (let page; !page || page.metadata._continue;) {
      page = await core.listNamespacedConfigMap({ namespace, limit: 3, _continue: page?.metadata._continue });
      found.push(...page.items.map((item) => item.metadata.name));
    }
    same(found, ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6']);
  },
  async scale(namespace) {
    await apps.createNamespacedDeployment({ namespace, body: deployment });
    const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'web' });
    scale.spec.replicas = 6;
    same((await apps.replaceNamespacedDeploymentScale({ namespace, name: 'web', body: scale })).spec.replicas, 6);
    same((await apps.readNamespacedDeployment({ namespace, name: 'web' })).spec.replicas, 6);
  },
  async lease(namespace) {
    const leases = config.makeApiClient(k8s.CoordinationV1Api);
    const spec = (holder) => ({ holderIdentity: holder, leaseDurationSeconds: 15, acquireTime: new k8s.V1MicroTime(), renewTime: new k8s.V1MicroTime(), leaseTransitions: 1 });
    const seen = await leases.createNamespacedLease({ namespace, body: { metadata: { name: 'leader' }, spec: spec('one') } });
    const hold = (holder) => leases.replaceNamespacedLease({ namespace, name: 'leader', body: { ...seen, spec: spec(holder) } });
    same((await hold('two')).spec.holderIdentity, 'two');
    await refused(409, 'the object has been modified', hold('three'));
    const got = await leases.readNamespacedLease({ namespace, name: 'leader' });
    same([got.spec.holderIdentity, got.spec.leaseTransitions, new Date(got.spec.renewTime) > new Date(0)], ['two', 1, true]);
  },
  async collection(namespace) {
    for (const name of ['a', 'b', 'c']) await configMap(namespace, name);
    await core.deleteCollectionNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name!=b' });
    same((await core.listNamespacedConfigMap({ namespace })).items.map((item) => item.metadata.name), ['b']);
  },
  async dryRun(namespace) {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'd' } }, dryRun: 'All' });
    await refused(404, 'not found', core.readNamespacedConfigMap({ namespace, name: 'd' }));
  },
  async describes() {
    same((await config.makeApiClient(k8s.VersionApi).getCode()).minor, '36');
    same((await apps.getAPIResources()).resources.some((r) => r.name === 'deployments/scale'), true);
  },
};

let failed = false;
for (const [name, check] of Object.entries(checks)) {
  const namespace = `js-${name.toLowerCase()}`;
  try {
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    await check(namespace);
    console.log(`ok ${name}`);
  } catch (error) {
    failed = true;
    console.log(`FAIL ${name}: ${String(error.message ?? error).replaceAll('\n', ' ')}`);
  }
}
process.exit(failed ? 1 : 0);
