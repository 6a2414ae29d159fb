// API groups of the stable tier: the kit reads the documents, and the callbacks of kinds become strategies.
#include <algorithm>
#include <stdexcept>

#include "backplane/kit/group.hpp"
#include "backplane/kit/strategy.hpp"
#include "base/blocking_calls.hpp"
#include "base/status_exception.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"

struct bp_field_errors {
  backplane::FieldErrors& errors;
};

namespace backplane::stable {
namespace {

// A strategy has no error for an object that could not be checked. So an exception carries the plugin's error, or 500, to the request.
[[noreturn]] void throw_failure(std::string_view kind, std::string_view call, const bp_error& error) {
  if (error.code != 0 || error.reason[0] != '\0') throw StatusException(status_of(error));
  throw std::runtime_error(std::string(call) + " of kind " + std::string(kind) + " failed: " + status_of(error).message());
}

// The callbacks of one kind. They run on the request's thread; if the plugin runs in another process, on one of bp_context::kind_threads.
class KindCalls {
 public:
  KindCalls(bp_context& context, const bp_kind& kind) : context_(context), kind_(kind), name_(text(kind.kind)) {}

  Result<Executor*> call_executor() const {
    if (!context_.kind_threads) return static_cast<Executor*>(nullptr);
    if (Status answers = context_.process(); !answers.ok()) return answers;
    return &context_.kind_threads->next();
  }

  void set_defaults(Object& object) const {
    if (kind_.set_defaults == nullptr) return;
    const std::string sent = to_json(object);
    bp_output changed;
    bp_error error{};
    const CallScope scope(CallPlace::kRequest);
    if (kind_.set_defaults(kind_.self, str(sent), &changed, &error) != 0) throw_failure(name_, "set_defaults", error);
    if (changed.bytes.empty()) return;
    auto made = object_of(changed.bytes, object.storage());
    if (!made) throw std::runtime_error("set_defaults of kind " + name_ + " has written something that is not a JSON object");
    object = std::move(*made);
  }
  void check(const Object& object, FieldErrors& errors) const {
    if (kind_.check == nullptr) return;
    const std::string sent = to_json(object);
    bp_field_errors list{errors};
    bp_error error{};
    const CallScope scope(CallPlace::kRequest);
    if (kind_.check(kind_.self, str(sent), &list, &error) != 0) throw_failure(name_, "check", error);
  }
  using ChangeCall = decltype(bp_kind::check_change);
  void check_change(ChangeCall bp_kind::*call, std::string_view called, const Object& object, const Object& old,
                    FieldErrors& errors) const {
    if (kind_.*call == nullptr) return;
    const std::string sent = to_json(object), before = to_json(old);
    bp_field_errors list{errors};
    bp_error error{};
    const CallScope scope(CallPlace::kRequest);
    if ((kind_.*call)(kind_.self, str(sent), str(before), &list, &error) != 0) throw_failure(name_, called, error);
  }
  bool converts() const { return kind_.convert != nullptr; }
  Status convert(const std::string& from, const std::string& to, Object& object) const {
    const std::string sent = to_json(object);
    bp_output converted;
    bp_error error{};
    const CallScope scope(CallPlace::kRequest);
    if (kind_.convert(kind_.self, str(from), str(to), str(sent), &converted, &error) != 0) return status_of(error);
    auto made = object_of(converted.bytes, object.storage());
    if (!made) return internal_error("convert of kind " + name_ + " has written something that is not a JSON object");
    object = std::move(*made);
    return {};
  }
  bool checks_status() const { return kind_.check_status != nullptr; }
  const std::string& name() const { return name_; }

 private:
  bp_context& context_;
  const bp_kind kind_;
  const std::string name_;
};

class TableStrategy final : public kit::KindStrategy, public BlockingCalls {
 public:
  TableStrategy(KindFacts facts, std::shared_ptr<const KindCalls> calls) : KindStrategy(std::move(facts)), calls_(std::move(calls)) {}
  void apply_defaults(Object& object) const override { calls_->set_defaults(object); }
  Result<Executor*> call_executor() const override { return calls_->call_executor(); }
  const KindCalls& calls() const { return *calls_; }

 protected:
  void check(const Object& object, FieldErrors& errors) const override { calls_->check(object, errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    calls_->check_change(&bp_kind::check_change, "check_change", object, old, errors);
  }

 private:
  const std::shared_ptr<const KindCalls> calls_;
};

class TableStatusStrategy final : public kit::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    // The kit makes the strategy of /status from that of the kind alone, and only code_of() sets both.
    const auto* own = dynamic_cast<const TableStrategy*>(&parent());
    if (own != nullptr) own->calls().check_change(&bp_kind::check_status, "check_status", object, old, errors);
  }
};

using AllCalls = std::vector<std::shared_ptr<const KindCalls>>;

kit::GroupCode code_of(const AllCalls& all) {
  kit::GroupCode code;
  for (const auto& calls : all) {
    kit::KindCode& kind = code.kinds[calls->name()];
    kind.make = kit::made<TableStrategy>(calls);
    if (calls->checks_status()) kind.make_status = kit::made_status<TableStatusStrategy>;
  }
  return code;
}

Status add_conversion(Scheme& scheme, const GroupVersionKind& from, const GroupVersionKind& to, std::shared_ptr<const KindCalls> calls) {
  return scheme.add_conversion(from, to,
                               [calls, from = from.version, to = to.version](Object& object) { return calls->convert(from, to, object); });
}

// Adds the conversions between each version of a kind and the stored version.
Status add_conversions(Scheme& scheme, const kit::GroupDocument& document, const AllCalls& all) {
  for (const kit::KindRow& row : document.kinds) {
    const auto calls = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each->name() == row.kind; });
    if (row.stored_kind.kind.empty() || row.same_form || calls == all.end() || !(*calls)->converts()) continue;
    const GroupVersionKind served{document.group, row.version, row.kind};
    if (Status status = add_conversion(scheme, served, row.stored_kind, *calls); !status.ok()) return status;
    if (Status status = add_conversion(scheme, row.stored_kind, served, *calls); !status.ok()) return status;
  }
  return {};
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> schemas_of(const bp_group& group) {
  std::vector<std::shared_ptr<const SchemaSet>> out;
  for (std::size_t i = 0; i < group.schema_count; ++i) {
    const std::string_view document = view(group.schemas[i]);
    auto set = SchemaSet::compile({&document, 1}, {core_schemas(), meta_schemas()});
    if (!set.ok()) return std::move(set).status();
    out.push_back(std::move(*set));
  }
  return out;
}

int32_t install_from(bp_context* context, const bp_group* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_group group = copy_of(given);
    AllCalls all;
    for (std::size_t i = 0; i < group.kind_count; ++i) all.push_back(std::make_shared<const KindCalls>(*context, copy_of(group.kinds[i])));
    auto document = kit::read_group(view(group.document), code_of(all));
    if (!document.ok()) return std::move(document).status();
    if (Status status = add_conversions(context->host->scheme(), *document, all); !status.ok()) return status;
    return kit::install_group(*context->host, context->name, std::move(document), schemas_of(group));
  });
}

// Adds a field error of one type.
using AddError = void (*)(FieldErrors& errors, std::string field, std::string_view value, std::string_view detail);
constexpr AddError kAddError[] = {
    nullptr,
    [](FieldErrors& errors, std::string field, std::string_view, std::string_view detail) { errors.required(std::move(field), detail); },
    [](FieldErrors& errors, std::string field, std::string_view value, std::string_view detail) {
      errors.invalid_raw(std::move(field), value, detail);
    },
    [](FieldErrors& errors, std::string field, std::string_view, std::string_view detail) { errors.forbidden(std::move(field), detail); },
    [](FieldErrors& errors, std::string field, std::string_view value, std::string_view) { errors.duplicate_raw(std::move(field), value); },
    [](FieldErrors& errors, std::string field, std::string_view value, std::string_view) {
      errors.add({FieldErrorType::kNotFound, std::move(field), "Not found: " + std::string(value)});
    },
    [](FieldErrors& errors, std::string field, std::string_view value, std::string_view detail) {
      errors.add(
          {FieldErrorType::kNotSupported, std::move(field), "Unsupported value: " + std::string(value) + ": " + std::string(detail)});
    },
    [](FieldErrors& errors, std::string field, std::string_view value, std::string_view detail) {
      errors.type_invalid(std::move(field), value, detail);
    },
    [](FieldErrors& errors, std::string field, std::string_view, std::string_view detail) { errors.internal(std::move(field), detail); },
};

void add_field_error(bp_field_errors* errors, uint32_t type, bp_str field, bp_str value, bp_str detail) {
  const bool known = type > 0 && type < std::size(kAddError);
  kAddError[known ? type : BP_FIELD_INTERNAL](errors->errors, text(field), view(value), view(detail));
}

}  // namespace

const bp_groups_table& groups_table() {
  static const bp_groups_table kTable = {sizeof(bp_groups_table), install_from, add_field_error};
  return kTable;
}

}  // namespace backplane::stable
