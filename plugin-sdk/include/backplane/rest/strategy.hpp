// The behaviour of a kind beyond its schema: facts as data, and functions that the generic store calls at each step of a write.
//
// Thread-safety: all methods are const and may be called from any thread at the same time.
// Lifetime:      shared with the storage made from it.
// Errors:        validation errors are added to FieldErrors. An exception is a bug of the plugin; the request gets 500.
// Source:        registry/rest CreateStrategy, UpdateStrategy, DeleteStrategy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/rest/warnings.hpp"
#include "backplane/rest/written_fields.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// A field label for selectors, and the path of its value ("spec.nodeName"). metadata.name and metadata.namespace always exist.
struct SelectableField {
  std::string label;
  std::string path;
  std::string default_value;  // the value if the path is absent
};

// The facts of a kind. Most kinds need only these and their schema.
struct KindFacts {
  bool namespaced = true;
  // Rules for metadata.name.
  NameRule name_rule = NameRule::kDnsSubdomain;
  // PUT creates an absent object (rest.AllowCreateOnUpdate).
  bool create_on_update = false;
  // An update without resourceVersion is allowed (rest.AllowUnconditionalUpdate).
  bool unconditional_update = true;
  // metadata.generation is 1 on create and increases with every change of the spec.
  bool generation = false;
  // /status exists: status is dropped from creates and from updates of the main resource.
  bool status = false;
  bool status_on_create = false;  // … except that creates keep the status that the client sent
  Value initial_status = {};      // status of a new object, regardless of what the client sent; null: unset
  // A delete without a propagation policy orphans the dependents (legacy behaviour of replication controllers).
  bool orphans_dependents = false;
  // A delete responds with the object instead of a Status (GracefulDeleter::returns_deleted).
  bool returns_deleted = false;
  // The collection supports DELETE.
  bool deletes_collections = true;
  // The part of the object to which the schema's rules apply.
  ObjectPart checked = ObjectPart::kWithoutStatus;
  // Checks that upstream's update validation of the kind repeats, so that its errors are reported twice: immutable metadata (nearly all
  // kinds), all of metadata, the rules of the schema.
  bool rechecks_metadata_change = true;
  bool rechecks_metadata = false;
  bool rechecks_rules = false;
  // False: finalizers without a domain must be ones that Kubernetes defines, as validation of upstream's own groups requires.
  bool any_finalizer_names = false;
  // False, for a subresource: a request that accepts only a Table gets 406, because upstream's storage has no table convertor.
  bool has_tables = true;
  // False: the garbage collector does not track the kind, so a delete never adds the finalizers orphan and foregroundDeletion.
  bool has_dependents = true;
  // True: upstream's validation of the kind does not include metadata; metadata of a new object is validated only if there are no other
  // errors.
  bool metadata_last = false;
  std::vector<SelectableField> selectable = {};
  std::vector<WarningRow> warnings = {};
  std::vector<TableColumn> columns = {};  // none: Name and Created At
  // TableRowConditions of a row; null: none.
  PrintConditions row_conditions = nullptr;
  std::shared_ptr<const TableConvertor> table = {};  // a custom printer, instead of `columns`
};

// Derive from it to add behaviour; every function has a default that does nothing.
//
//   class RunnerStrategy final : public Strategy {
//    public:
//     using Strategy::Strategy;
//     void prepare_for_create(RequestContext&, Object& object) const override { erase_member(object, "status"); }
//     void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
//       if (get_int_path(object, "spec.slots").value_or(0) > 64) errors.invalid("spec.slots", …, "must be at most 64");
//     }
//   };
class Strategy {
 public:
  Strategy() : Strategy(KindFacts{}) {}
  explicit Strategy(KindFacts facts);
  virtual ~Strategy();
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  const KindFacts& facts() const noexcept { return facts_; }
  const TableConvertor& table_convertor() const noexcept { return *facts_.table; }

  // Defaults that the schema cannot express. Called for every object from a client or a patch, after the schema's defaults, before
  // admission and preparation. Must be idempotent.
  virtual void apply_defaults(Object& object) const;

  // ---- create
  // Changes the object before validation: resets fields that clients may not set.
  virtual void prepare_for_create(RequestContext& context, Object& object) const;
  // Validates the object as a whole; the store has validated metadata. Precondition: the object satisfies the schema.
  virtual void validate(RequestContext& context, const Object& object, FieldErrors& errors) const;

  // ---- update. `old` is the stored object; the store has already copied immutable metadata from it.
  virtual void prepare_for_update(RequestContext& context, Object& object, const Object& old) const;
  virtual void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const;

  // ---- both
  // Texts for Warning headers; `old` is null on create. The default evaluates KindFacts::warnings.
  virtual std::vector<std::string> warnings(const Object& object, const Object* old) const;
  // The last change before the object is encoded.
  virtual void canonicalize(Object& object) const;

  // The fields that a write through this strategy can change, for metadata.managedFields. nullopt: all, except `status` if
  // KindFacts::status is true.
  virtual std::optional<WrittenFields> written_fields() const { return std::nullopt; }

  // ---- delete
  // Graceful deletion. True: the object stays until its grace period ends, and options.grace_period_seconds is set to the period. The
  // default returns false: immediate deletion.
  virtual bool check_graceful_delete(RequestContext& context, const Object& object, DeleteOptions& options) const;
  // Refuses a delete that is otherwise valid (403, 409 …).
  virtual Status validate_delete(RequestContext& context, const Object& object) const;
  // True if finalizers outside metadata.finalizers prevent removal (namespaces: spec.finalizers).
  virtual bool held_by_other_finalizers(const Object& object) const;
  // Changes the object when its deletion must wait for finalizers or a grace period (namespaces: status.phase Terminating).
  virtual void mark_deleting(Object& object) const;

 private:
  const KindFacts facts_;  // with `table` set, from `columns` if necessary
};

}  // namespace BACKPLANE_API
