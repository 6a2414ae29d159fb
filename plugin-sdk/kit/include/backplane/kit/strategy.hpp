// Base classes of strategies: the rules that all built-in kinds of Kubernetes have, and the status subresource.
//
// Thread-safety: const after construction; any thread.
// Lifetime:      shared with the storages that use them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/rest/strategy.hpp"
#include "backplane/rest/written_fields.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Base of a kind's strategy: applies the KindFacts and the rules common to all kinds. Override the protected functions to add rules; their
// defaults do nothing.
//
//   class RunnerStrategy final : public kit::KindStrategy {
//    public:
//     using KindStrategy::KindStrategy;
//    protected:
//     void check(const Object& object, FieldErrors& errors) const override;
//   };
class KindStrategy : public Strategy {
 public:
  using Strategy::Strategy;
  void prepare_for_create(RequestContext& context, Object& object) const final;
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const final;
  void validate(RequestContext& context, const Object& object, FieldErrors& errors) const final;
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const final;

 protected:
  // Reset and set fields, on create and on update. Called after the rules of the KindFacts.
  virtual void prepare_create(Object& object) const;
  virtual void prepare_update(Object& object, const Object& old) const;
  // Adds errors of rules that involve several fields of one object; called on create and update. Rules about single fields belong in the
  // schema.
  virtual void check(const Object& object, FieldErrors& errors) const;
  // Adds errors whose messages depend on the API version of the request; called after check().
  virtual void check_request(const RequestContext& context, const Object& object, FieldErrors& errors) const;
  // Adds errors of rules for new objects only; called after check_request().
  virtual void check_new(const Object& object, FieldErrors& errors) const;
  // Adds errors of rules about a change; called on update, before check().
  virtual void check_change(const Object& object, const Object& old, FieldErrors& errors) const;
};

// The strategy of /status: an update changes only status and metadata.
class StatusStrategy : public Strategy {
 public:
  struct Options {
    std::vector<std::string> kept_metadata = {};  // members of metadata that the subresource does not change ("labels")
    std::vector<std::string> resets = {};         // WrittenFields::resets; empty: the spec and `kept_metadata`
    bool has_tables = true;                       // KindFacts::has_tables
  };
  // `parent`: the strategy of the main resource.
  explicit StatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent), Options()) {}
  StatusStrategy(std::shared_ptr<const Strategy> parent, Options options);

  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.resets = resets_}; }
  void apply_defaults(Object& object) const override { parent_->apply_defaults(object); }
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override;
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const override;

  // Adds errors of rules about the new status. The default does nothing.
 protected:
  virtual void check_status(const Object& object, const Object& old, FieldErrors& errors) const;
  const Strategy& parent() const noexcept { return *parent_; }

 private:
  std::shared_ptr<const Strategy> parent_;
  std::vector<std::string> kept_metadata_;
  std::vector<std::string> resets_;
};

// Returns facts for a subresource of the kind: the same scope and names, without other behaviour. `checked`: the part of the object to
// which the schema's rules apply.
KindFacts subresource_facts(const Strategy& parent, ObjectPart checked);

// Adds an error for each finalizer without a domain that Kubernetes does not define.
void check_finalizer_names(const Object& object, FieldErrors& errors);

}  // namespace BACKPLANE_API
}  // namespace backplane
