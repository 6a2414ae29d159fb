// Who may do what: the viewer's identity and rules, and questions about any user.
import {element, errorBox, field, show, table} from './dom.js';
import {createReview} from './api.js';

const AUTHENTICATION = '/apis/authentication.k8s.io/v1', AUTHORIZATION = '/apis/authorization.k8s.io/v1';

export async function whoAmI() {
  const review = await createReview(`${AUTHENTICATION}/selfsubjectreviews`, {apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview'});
  return review.status.userInfo;
}

export async function accessPage(page) {
  const me = await whoAmI();
  const namespace = element('input', {value: 'default', size: 16, onchange: () => showRules(rules, namespace.value.trim())});
  const rules = element('div');
  show(page, element('h1', {}, 'Access'),
    element('p', {}, `You are ${me.username}${me.groups ? ', in ' + me.groups.join(', ') : ''}.`),
    question(), element('h2', {}, 'Your rules'), element('div', {class: 'bar'}, field('Namespace', namespace)), rules);
  await showRules(rules, 'default');
}

async function showRules(holder, namespace) {
  try {
    const {status} = await createReview(`${AUTHORIZATION}/selfsubjectrulesreviews`,
      {apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: {namespace}});
    const text = (values) => (values || []).join(', ');
    show(holder, status.incomplete ? element('p', {class: 'soft'}, `Not complete: ${status.evaluationError || ''}`) : null,
      table([{name: 'Verbs'}, {name: 'Resources'}, {name: 'Groups'}, {name: 'Names'}, {name: 'URLs'}], [
        ...(status.resourceRules || []).map((rule) => [text(rule.verbs), text(rule.resources), (rule.apiGroups || []).map((group) => group || '""').join(', '),
          text(rule.resourceNames), '']),
        ...(status.nonResourceRules || []).map((rule) => [text(rule.verbs), '', '', '', text(rule.nonResourceURLs)])]));
  } catch (error) {
    show(holder, errorBox(error));
  }
}

function question() {
  const input = (value, size = 14) => element('input', {value, size});
  const user = input(''), groups = input(''), verb = input('get', 8), group = input(''), resource = input('pods'), namespace = input('default'), name = input('');
  const answer = element('span', {role: 'status'});
  const ask = async (event) => {
    event.preventDefault();
    const [plain, subresource] = resource.value.trim().split('/');
    const resourceAttributes = {verb: verb.value.trim(), group: group.value.trim(), resource: plain, subresource, namespace: namespace.value.trim(), name: name.value.trim()};
    const other = user.value.trim() !== '';
    const spec = other ? {resourceAttributes, user: user.value.trim(), groups: groups.value.split(',').map((each) => each.trim()).filter(Boolean)}
      : {resourceAttributes};
    const kind = other ? 'SubjectAccessReview' : 'SelfSubjectAccessReview';
    try {
      const {status} = await createReview(`${AUTHORIZATION}/${kind.toLowerCase()}s`, {apiVersion: 'authorization.k8s.io/v1', kind, spec});
      show(answer, element('span', {class: status.allowed ? 'allowed' : 'denied'}, status.allowed ? 'yes' : 'no'), status.reason ? `: ${status.reason}` : '');
    } catch (error) {
      show(answer, errorBox(error));
    }
  };
  return element('form', {onsubmit: ask}, element('h2', {}, 'May a user do this?'), element('div', {class: 'bar'},
    field('User (empty: you)', user), field('Groups', groups), field('Verb', verb), field('API group', group), field('Resource', resource), field('Namespace', namespace),
    field('Name', name), element('button', {}, 'Ask'), answer));
}
