#include "webhooks/mutating_webhooks.hpp"

#include "backplane/core/request.hpp"
#include "backplane/points/audit.hpp"
#include "webhooks/alike_objects.hpp"
#include "webhooks/hook_patch.hpp"
#include "webhooks/hook_selection.hpp"
#include "webhooks/reinvocation_state.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::string_view kMutatingPlugin = "MutatingAdmissionWebhook";

ReinvocationState& state_of_write(AdmissionReinvocation& reinvocation) {
  std::shared_ptr<void>& state = reinvocation.state_of(kMutatingPlugin);
  if (state == nullptr) state = std::make_shared<ReinvocationState>();
  return *static_cast<ReinvocationState*>(state.get());
}

// The mutating step of one write, in one pass.
class MutatingRun {
 public:
  MutatingRun(const HookRuntime& runtime, const NamespaceLabels& namespaces, AdmissionAttributes& attributes,
              AdmissionReinvocation& reinvocation)
      : runtime_(runtime),
        attributes_(attributes),
        reinvocation_(reinvocation),
        state_(state_of_write(reinvocation)),
        match_(runtime.host.equivalent_resources(), namespaces, attributes),
        write_(runtime.host, attributes) {}

  Task<Status> run(std::shared_ptr<const Hooks> hooks) {
    check_new_times_ = !reinvocation_.again();
    if (reinvocation_.again() && state_.changed_since_output(attributes_.object)) state_.require_reinvocation();
    Status end;
    for (std::size_t i = 0; i < hooks->size() && end.ok(); ++i) {
      auto stepping = step((*hooks)[i], i);
      end = co_await std::move(stepping);
    }
    if (end.ok()) {
      auto flushing = write_.flush();
      end = co_await std::move(flushing);
    }
    state_.set_output(attributes_.object);
    co_return end;
  }

 private:
  Task<Status> step(HookRef hook, std::size_t index) {
    auto asking = should_call(runtime_.host, *hook, attributes_, match_, write_, write_.objects().object);
    auto target = co_await std::move(asking);
    if (!target.ok()) co_return std::move(target.status());
    // A webhook is not called for the first time in the second pass.
    if (!*target || (reinvocation_.again() && !state_.should_reinvoke(hook->uid))) co_return Status();
    auto switching = write_.in((*target)->kind);
    auto objects = co_await std::move(switching);
    if (!objects.ok()) co_return internal_error(objects.status().message());
    const std::string place = std::string("round_") + (reinvocation_.again() ? "1" : "0") + "_index_" + std::to_string(index);
    auto calling = call(*hook, **target, *objects, place);
    const bool changed = co_await std::move(calling);
    annotate("mutation.webhook.admission.k8s.io/" + place, mutation_annotation(hook->configuration, hook->name, changed));
    if (changed) {
      state_.require_reinvocation();
      reinvocation_.request();
    }
    if (hook->reinvocable) state_.called_reinvocable(hook->uid);
    const bool failed = end_.kind == HookEnd::Kind::kFailed;
    auto refusal = finish_call(runtime_, *hook, attributes_, std::move(end_), "failed-open.mutation.webhook.admission.k8s.io/" + place);
    if (refusal) co_return std::move(*refusal);
    if (failed && deadline_passed(attributes_)) co_return deadline_status();
    co_return Status();
  }

  // Sets end_; returns whether the object has changed.
  Task<bool> call(const Hook& hook, const ServedAs& target, VersionedObjects objects, const std::string& place) {
    if (auto refused = refuse_dry_run(hook, attributes_)) {
      end_ = std::move(*refused);
      co_return false;
    }
    const ServedType type = served_type(runtime_.host, target.resource, target.kind);
    const EncodedReview* review =
        hook.review_version.empty() ? nullptr : &reviews_.get(hook, attributes_, target, objects.object, objects.old_object, type.schema);
    auto calling = call_hook(runtime_, hook, attributes_, review);
    end_ = co_await std::move(calling);
    if (end_.kind != HookEnd::Kind::kAllowed || end_.patch.empty()) co_return false;
    co_return patch(hook, target, objects, place);
  }

  bool patch(const Hook& hook, const ServedAs& target, const VersionedObjects& objects, const std::string& place) {
    const Object* object = objects.object;
    auto operations = decode_hook_patch(end_.patch, json::make_shared_resource<json::monotonic_resource>());
    if (!operations.ok()) {
      return fail(hook_failed(hook, {"received undecodable patch in webhook response: " + operations.status().message(), 503}));
    }
    if (operations->empty()) return false;
    if (object == nullptr) {
      return fail(hook_internal(internal_error("admission webhook " + backplane::quoted(hook.name) +
                                               " attempted to modify the object, which is not supported for this operation")));
    }
    if (end_.patch_type != "JSONPatch") {
      return fail(hook_failed(hook, {"unsupported patch type " + backplane::quoted(end_.patch_type), 400}));
    }
    const ServedType type = served_type(runtime_.host, target.resource, target.kind);
    auto patched = apply_hook_patch(*object, *operations);
    Status problem = patched.ok() ? normalize_patched(type, *patched) : std::move(patched.status());
    if (!problem.ok()) return fail(hook_internal(internal_error(problem.message())));
    const bool changed = !alike_objects(*object, patched->get_object()) || (check_new_times_ && has_new_times(type, objects));
    check_new_times_ = false;
    if (attributes_.context != nullptr && attributes_.context->audit != nullptr &&
        attributes_.context->audit->level >= AuditLevel::kRequest) {
      annotate("patch.webhook.admission.k8s.io/" + place, patch_annotation(hook.configuration, hook.name, *operations));
    }
    type.set_defaults(*patched);
    write_.object() = std::move(patched->get_object());
    write_.set_changed();
    reviews_.clear();
    return changed;
  }

  bool fail(HookEnd end) {
    end.took = end_.took;
    end_ = std::move(end);
    return false;
  }

  void annotate(const std::string& key, std::string value) const {
    const Status annotated = attributes_.annotate(key, std::move(value));
    if (annotated.ok()) return;
    runtime_.host.logger().warn("cannot set the audit annotation of a webhook key=" + key +
                                " error=" + backplane::quoted(annotated.message()));
  }

  const HookRuntime& runtime_;
  AdmissionAttributes& attributes_;
  AdmissionReinvocation& reinvocation_;
  ReinvocationState& state_;
  WriteMatch match_;
  VersionedWrite write_;
  ReviewCache reviews_;
  HookEnd end_;  // the end of the current call
  bool check_new_times_ = true;
};

}  // namespace

std::optional<Status> MutatingWebhooks::admit_now(AdmissionAttributes& attributes) const {
  if (may_call_any(attributes)) return std::nullopt;
  return Status();
}

Task<Status> MutatingWebhooks::admit(AdmissionAttributes& attributes) const {
  AdmissionReinvocation alone;  // for a runner without a second pass
  AdmissionReinvocation& reinvocation = attributes.reinvocation != nullptr ? *attributes.reinvocation : alone;
  MutatingRun run(runtime(), namespaces(), attributes, reinvocation);
  auto running = run.run(hooks_for(attributes));
  co_return co_await std::move(running);
}

}  // namespace backplane::admission::webhooks
