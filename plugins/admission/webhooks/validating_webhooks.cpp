#include "webhooks/validating_webhooks.hpp"

#include "backplane/core/task_set.hpp"
#include "webhooks/hook_selection.hpp"

namespace backplane::admission::webhooks {
namespace {

struct ValidatingCall {
  HookRef hook;
  const EncodedReview* review = nullptr;
};

// The validating step of one write.
class ValidatingRun {
 public:
  ValidatingRun(const HookRuntime& runtime, const NamespaceLabels& namespaces, const AdmissionAttributes& attributes)
      : runtime_(runtime),
        attributes_(attributes),
        match_(runtime.host.equivalent_resources(), namespaces, attributes),
        views_(runtime.host, attributes) {}

  Task<Status> run(std::shared_ptr<const Hooks> hooks) {
    for (const HookRef& hook : *hooks) {
      auto selecting = select(hook);
      Status selected = co_await std::move(selecting);
      if (!selected.ok()) co_return selected;
    }
    if (calls_.empty()) co_return Status();
    if (deadline_passed(attributes_)) co_return deadline_status();
    std::vector<Task<Status>> running;
    running.reserve(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) running.push_back(call(i));
    auto all = when_all(std::move(running));
    std::vector<Status> ends = co_await std::move(all);
    for (Status& end : ends) {
      if (!end.ok()) co_return std::move(end);
    }
    co_return Status();
  }

 private:
  Task<Status> select(HookRef hook) {
    auto asking = should_call(runtime_.host, *hook, attributes_, match_, views_, attributes_.object);
    auto target = co_await std::move(asking);
    if (!target.ok()) co_return std::move(target.status());
    if (!*target) co_return Status();
    auto converting = views_.in((*target)->kind);
    auto objects = co_await std::move(converting);
    if (!objects.ok()) co_return internal_error(objects.status().message());
    ValidatingCall call{hook, nullptr};
    if (!hook->review_version.empty()) {
      call.review = &reviews_.get(*hook, attributes_, **target, objects->object, objects->old_object);
    }
    calls_.push_back(std::move(call));
    co_return Status();
  }

  Task<Status> call(std::size_t index) {
    const ValidatingCall& each = calls_[index];
    HookEnd end;
    if (auto refused = refuse_dry_run(*each.hook, attributes_)) {
      end = std::move(*refused);
    } else {
      auto calling = call_hook(runtime_, *each.hook, attributes_, each.review);
      end = co_await std::move(calling);
    }
    const bool failed = end.kind == HookEnd::Kind::kFailed;
    const std::string annotation = "failed-open.validating.webhook.admission.k8s.io/round_0_index_" + std::to_string(index);
    auto refusal = finish_call(runtime_, *each.hook, attributes_, std::move(end), annotation);
    if (refusal) co_return std::move(*refusal);
    co_return failed ? unless_late(attributes_, Status()) : Status();
  }

  const HookRuntime& runtime_;
  const AdmissionAttributes& attributes_;
  WriteMatch match_;
  VersionedViews views_;
  ReviewCache reviews_;
  std::vector<ValidatingCall> calls_;
};

}  // namespace

std::optional<Status> ValidatingWebhooks::validate_now(const AdmissionAttributes& attributes) const {
  if (may_call_any(attributes)) return std::nullopt;
  return Status();
}

Task<Status> ValidatingWebhooks::validate(const AdmissionAttributes& attributes) const {
  ValidatingRun run(runtime(), namespaces(), attributes);
  auto running = run.run(hooks_for(attributes));
  co_return co_await std::move(running);
}

}  // namespace backplane::admission::webhooks
