// Strategies that built-in kinds share: what k8s.io/kubernetes adds to the generic rules for every kind, and the status subresource.
//
// Thread-safety: const after construction; any thread.
// Lifetime:      shared with the storages made from them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/rest/strategy.hpp"
#include "backplane/rest/written_fields.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// A kind of a built-in group: the rules that all of them share stand here, a kind that has more of its own derives from it.
class KindStrategy : public Strategy {
 public:
  using Strategy::Strategy;
  void prepare_for_create(RequestContext& context, Object& object) const final;
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const final;
  void validate(RequestContext& context, const Object& object, FieldErrors& errors) const final;
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const final;

 protected:
  // Drops and fills what the kind drops and fills on create.
  virtual void prepare_create(Object& object) const;
  virtual void prepare_update(Object& object, const Object& old) const;
  // Rules on one object that cross its fields, asked on create and update; those on single fields stand in the schema.
  virtual void check(const Object& object, FieldErrors& errors) const;
  // Rules whose words depend on the version that the request speaks, asked after check().
  virtual void check_request(const RequestContext& context, const Object& object, FieldErrors& errors) const;
  // Rules on new objects only, asked after these.
  virtual void check_new(const Object& object, FieldErrors& errors) const;
  // Rules on a change, asked before check().
  virtual void check_change(const Object& object, const Object& old, FieldErrors& errors) const;
};

// Updates through /status: everything but status and metadata stays as it was.
class StatusStrategy : public Strategy {
 public:
  struct Options {
    std::vector<std::string> kept_metadata = {};  // members of metadata that the subresource does not change ("labels")
    std::vector<std::string> resets = {};         // WrittenFields::resets; empty: the spec and `kept_metadata`
    bool has_tables = true;                       // KindFacts::has_tables
  };
  explicit StatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent), Options()) {}
  StatusStrategy(std::shared_ptr<const Strategy> parent, Options options);

  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.resets = resets_}; }
  void apply_defaults(Object& object) const override { parent_->apply_defaults(object); }
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override;
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const override;

 protected:
  virtual void check_status(const Object& object, const Object& old, FieldErrors& errors) const;
  const Strategy& parent() const noexcept { return *parent_; }

 private:
  std::shared_ptr<const Strategy> parent_;
  std::vector<std::string> kept_metadata_;
  std::vector<std::string> resets_;
};

// The facts of a kind as a subresource of it sees them: the same scope and names, and nothing of what its own strategy does not say.
KindFacts subresource_facts(const Strategy& parent, ObjectPart checked);

// Finalizers without a domain must be ones that Kubernetes itself knows.
void check_finalizer_names(const Object& object, FieldErrors& errors);

}  // namespace BACKPLANE_API
}  // namespace backplane
