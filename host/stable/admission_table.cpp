// Admission rules of the stable tier.
#include <algorithm>

#include "admission/rule_matches.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/types/schema.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"
#include "stable/users.hpp"

struct bp_request {
  const backplane::AdmissionAttributes& attributes;
};

namespace backplane::stable {
namespace {

bool matches_name(const std::string& wanted, const std::string& name) { return wanted == "*" || wanted == name; }

// The object as JSON, without metadata.managedFields, which is an opaque value here.
std::string shown(const Object* object) {
  if (object == nullptr) return {};
  std::string out = "{";
  const auto add = [&out](const json::key_value_pair& member, const auto& write) {
    if (out.back() != '{') out += ',';
    append_json_string(out, std::string_view(member.key().data(), member.key().size()));
    out += ':';
    write();
  };
  for (const auto& member : *object) {
    add(member, [&] {
      const Object* metadata = member.key() == "metadata" ? member.value().if_object() : nullptr;
      if (metadata == nullptr) return append_json(out, member.value());
      out += '{';
      for (const auto& inner : *metadata) {
        if (inner.key() != "managedFields") add(inner, [&] { append_json(out, inner.value()); });
      }
      out += '}';
    });
  }
  return out + "}";
}

// Applies the result of a rule: a JSON patch, or a new object. True: the object has changed.
Result<bool> take_change(Object& object, const std::string& bytes, const std::string& rule) {
  auto parsed = parse_json(bytes, object.storage(), nullptr);
  if (!parsed.ok()) return internal_error("admission rule " + rule + " has written no JSON");
  if (const Array* operations = parsed->if_array()) {
    Value whole(std::move(object));
    const Status status = json_patch(whole, *operations);
    if (!whole.is_object()) return internal_error("the patch of admission rule " + rule + " leaves no object");
    object = std::move(whole.get_object());
    if (!status.ok()) return internal_error("the patch of admission rule " + rule + " cannot be applied: " + status.message());
    return !operations->empty();
  }
  if (!parsed->is_object()) return internal_error("admission rule " + rule + " has written neither a patch nor an object");
  Object& changed = parsed->get_object();
  const Value* fields = find_path(object, {"metadata", "managedFields"});
  if (fields != nullptr) ensure_object(changed, "metadata")["managedFields"] = *fields;
  if (changed == object) return false;
  object = std::move(changed);
  return true;
}

class TableAdmission final : public AdmissionPlugin, public RuleMatches {
 public:
  TableAdmission(bp_context& context, const bp_admission& table, std::string name, std::vector<RuleMatch> matches)
      : context_(context), table_(table), name_(std::move(name)), matches_(std::move(matches)) {}
  std::string_view name() const noexcept override { return name_; }
  const std::vector<RuleMatch>& matches() const noexcept override { return matches_; }
  bool handles(AdmissionOperation operation) const noexcept override { return (table_.operations & bit(operation)) != 0; }
  bool mutates() const noexcept override { return table_.admit != nullptr; }
  bool validates() const noexcept override { return table_.validate != nullptr; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!concerns(attributes)) return Status();
    if (waits()) return std::nullopt;
    const CallScope scope(CallPlace::kRequest);
    return call_admit(attributes);
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    Status status;
    auto running = context_.threads->run([&] { status = call_admit(attributes); });
    co_await std::move(running);
    co_return status;
  }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!concerns(attributes)) return Status();
    if (waits()) return std::nullopt;
    const CallScope scope(CallPlace::kRequest);
    return call_validate(attributes);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    Status status;
    auto running = context_.threads->run([&] { status = call_validate(attributes); });
    co_await std::move(running);
    co_return status;
  }

 private:
  static std::uint32_t bit(AdmissionOperation operation) noexcept { return 1U << static_cast<unsigned>(operation); }
  bool waits() const noexcept { return (table_.flags & BP_BLOCKING) != 0; }
  bool concerns(const AdmissionAttributes& attributes) const {
    if (matches_.empty()) return attributes.subresource.empty();
    return std::any_of(matches_.begin(), matches_.end(), [&](const RuleMatch& match) {
      return matches_name(match.group, attributes.resource.group) && matches_name(match.version, attributes.resource.version) &&
             matches_name(match.resource, attributes.resource.resource) && matches_name(match.subresource, attributes.subresource);
    });
  }
  Status call_admit(AdmissionAttributes& attributes) const {
    bp_output patch;
    Status status =
        call(attributes, [&](const bp_write& write, bp_error* error) { return table_.admit(table_.self, &write, &patch, error); });
    if (!status.ok() || patch.bytes.empty() || attributes.object == nullptr) return status;
    auto changed = take_change(*attributes.object, patch.bytes, name_);
    if (!changed.ok()) return std::move(changed).status();
    if (*changed && attributes.reinvocation != nullptr) attributes.reinvocation->request();
    return {};
  }
  Status call_validate(const AdmissionAttributes& attributes) const {
    return call(attributes, [&](const bp_write& write, bp_error* error) { return table_.validate(table_.self, &write, error); });
  }
  template <class Call>
  static Status call(const AdmissionAttributes& attributes, Call made) {
    const SeenUser user(*attributes.user);
    const std::string object = shown(attributes.object), old_object = shown(attributes.old_object);
    bp_request request{attributes};
    bp_write write{};
    write.struct_size = sizeof(write);
    write.request = &request;
    write.operation = bit(attributes.operation);
    write.dry_run = attributes.dry_run ? 1 : 0;
    write.group = str(attributes.resource.group);
    write.version = str(attributes.resource.version);
    write.resource = str(attributes.resource.resource);
    write.subresource = str(attributes.subresource);
    write.kind = str(attributes.kind.kind);
    write.ns = str(attributes.ns);
    write.name = str(attributes.name);
    write.user = user.table();
    write.object = str(object);
    write.old_object = str(old_object);
    bp_error error{};
    if (made(write, &error) == 0) return {};
    if (error.code == 0 && error.reason[0] == '\0') return admission_forbidden(attributes, status_of(error).message());
    return status_of(error);
  }

  bp_context& context_;
  const bp_admission table_;
  const std::string name_;
  const std::vector<RuleMatch> matches_;
};

int32_t add_rule(bp_context* context, const bp_admission* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_admission table = copy_of(given);
    if (table.admit == nullptr && table.validate == nullptr) return bad_request("an admission rule needs admit() or validate()");
    std::vector<RuleMatch> matches;
    for (std::size_t i = 0; i < table.match_count; ++i) {
      const bp_match& match = table.matches[i];
      matches.push_back({text(match.group), text(match.version), text(match.resource), text(match.subresource)});
    }
    AdmissionRegistration registration;
    registration.name = text(table.name);
    registration.on_by_default = (table.flags & BP_OFF_BY_DEFAULT) == 0;
    registration.factory = [context, table, name = registration.name,
                            matches](const AdmissionPluginConfig& config) -> Result<std::shared_ptr<AdmissionPlugin>> {
      bp_error wrong{};
      const CallScope scope(CallPlace::kLifecycle);
      if (table.configure != nullptr && table.configure(table.self, str(config.configuration), &wrong) != 0) return status_of(wrong);
      return std::shared_ptr<AdmissionPlugin>(std::make_shared<TableAdmission>(*context, table, name, matches));
    };
    return context->host->register_admission(std::move(registration));
  });
}

int32_t annotate_request(bp_request* request, bp_str key, bp_str value, bp_error* error) {
  return guarded(error, [&] { return request->attributes.annotate(view(key), text(value)); });
}

}  // namespace

const bp_admission_table& admission_table() {
  static const bp_admission_table kTable = {sizeof(bp_admission_table), add_rule,
                                            [](bp_request* request, bp_str warning) { request->attributes.warn(view(warning)); },
                                            annotate_request};
  return kTable;
}

}  // namespace backplane::stable
