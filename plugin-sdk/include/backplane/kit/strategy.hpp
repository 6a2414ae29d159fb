// Strategies that built-in kinds share: what k8s.io/kubernetes adds to the generic rules for every kind, and the status subresource.
//
// Thread-safety: const after construction; any thread.
// Lifetime:      shared with the storages made from them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/strategy.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Base of the kinds of built-in groups: the rules that all of them share stand here, a kind adds its own.
class KindStrategy : public Strategy {
 public:
  void prepare_for_create(RequestContext& context, Object& object) const final;
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const final;
  void validate(RequestContext& context, const Object& object, FieldErrors& errors) const final;
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const final;

 protected:
  // Whether upstream's update rules of the kind hold its create rules whole: metadata is then checked, and blamed, once more.
  virtual bool rechecks_metadata() const { return false; }
  // Whether upstream's update rules of the kind look at changes of metadata, as nearly all do: such a change is then blamed twice,
  // by the rules for all kinds and by the kind's own.
  virtual bool rechecks_metadata_change() const { return true; }
  // Drops and fills what the kind drops and fills on create.
  virtual void prepare_create(Object& object) const;
  virtual void prepare_update(Object& object, const Object& old) const;
  // Rules on one object, asked on create and update.
  virtual void check(const Object& object, FieldErrors& errors) const;
  // Rules on new objects only, asked after check().
  virtual void check_new(const Object& object, FieldErrors& errors) const;
  // Rules on a change, asked before check().
  virtual void check_change(const Object& object, const Object& old, FieldErrors& errors) const;
};

// A kind that is namespaced or not and has nothing else to say.
class PlainStrategy final : public KindStrategy {
 public:
  explicit PlainStrategy(bool namespaced = true) : namespaced_(namespaced) {}
  bool namespaced() const override { return namespaced_; }

 private:
  bool namespaced_;
};

// Updates through /status: everything but status and metadata stays as it was.
class StatusStrategy : public Strategy {
 public:
  // `kept_metadata`: members of metadata that the kind does not let this subresource change ("labels").
  explicit StatusStrategy(std::shared_ptr<const Strategy> parent, std::vector<std::string> kept_metadata = {})
      : parent_(std::move(parent)), kept_metadata_(std::move(kept_metadata)) {}

  bool namespaced() const override { return parent_->namespaced(); }
  NameRule name_rule() const override { return parent_->name_rule(); }
  bool allow_unconditional_update() const override { return parent_->allow_unconditional_update(); }
  void apply_defaults(Object& object) const override { parent_->apply_defaults(object); }
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override;
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const override;

 protected:
  virtual void check_status(const Object& object, const Object& old, FieldErrors& errors) const;
  const Strategy& parent() const noexcept { return *parent_; }

 private:
  std::shared_ptr<const Strategy> parent_;
  std::vector<std::string> kept_metadata_;
};

// `status.<name>` must not be below 0, for each name.
void check_not_negative(const Object& parent, const std::string& path, std::initializer_list<std::string_view> names, FieldErrors& errors);

// Finalizers without a domain must be ones that Kubernetes itself knows.
void check_finalizer_names(const Object& object, FieldErrors& errors);

// Adds "field is immutable" when the member at `path` has changed.
void check_immutable(const Value* now, const Value* before, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
}  // namespace backplane
