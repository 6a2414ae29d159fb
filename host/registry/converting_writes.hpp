// A write in a version that is not the stored one: the version's steps on the object in that version, conversion, and the WriteMode in
// which the store of the stored version does the rest.
//
// Thread-safety: one request.
// Lifetime:      borrows everything until the write is over; no copies.
// Errors:        of admission and of the converter; the errors of the version's strategy are reported together with those of the store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "registry/conversion.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {

class ConvertingWrite {
 public:
  // `view_strategy`: rules on the version's own form, or null.
  ConvertingWrite(ServedStore& store, const Conversion& conversion, const Strategy* view_strategy, WriteMode mode, RequestContext& context,
                  WriteOptions options = {});
  ConvertingWrite(const ConvertingWrite&) = delete;
  ConvertingWrite& operator=(const ConvertingWrite&) = delete;

  // For the store below: its admission sees the version's form, its validation adds what `view_strategy` has found.
  const WriteMode& mode() const noexcept { return below_; }
  // The stored form of a new object.
  Task<Result<Object>> to_create(Object& object);
  // The stored form of what `info` makes of `existing`, which is in the stored form (null: there is none).
  Task<Result<Object>> to_update(UpdatedObjectInfo& info, const Object* existing);

 private:
  // Validating admission only: mutating admission has run before the conversion.  Deletes run both.
  class Admission final : public WriteAdmission {
   public:
    explicit Admission(ConvertingWrite& write) : write_(write) {}
    Task<Status> admit(AdmissionAttributes& attributes) override;
    Task<Status> validate(const AdmissionAttributes& attributes) override;
    bool reads_managed_fields() const noexcept override;
    bool begins(AdmissionOperation operation) const noexcept override;
    Task<Result<Begun>> begin(const AdmissionAttributes& attributes) override;

   private:
    ConvertingWrite& write_;
  };

  struct Shown {
    std::optional<Object> object;
    std::optional<Object> old_object;
    AdmissionAttributes attributes;
  };
  Task<Status> show(const AdmissionAttributes& attributes, Shown& shown) const;
  // What `info` makes of `old` in the version's form, with its defaults and its managers.
  Task<Result<Object>> ask(UpdatedObjectInfo& info, const Object* old);
  Task<Status> admit(Object& object, const Object* old);
  // What the structural schema of the version's form demands; `old` is null on create.  A typed form's rules are those of the stored
  // version.
  void check_schema(Object& object, const Object* old);
  void check_new(Object& object);
  void check_change(Object& object, const Object& old);
  bool admission_applies() const { return asked_.run_admission && context_.info.is_resource_request; }
  WriteAdmission* server_admission() const;

  ServedStore& store_;
  const Conversion& conversion_;
  const Strategy* view_strategy_;
  WriteMode asked_;
  RequestContext& context_;
  WriteOptions options_;  // of creates and updates
  Admission admission_;
  FieldErrors found_;
  WriteMode below_;
};

// The UpdatedObjectInfo of such a write.
class ConvertingUpdate final : public UpdatedObjectInfo {
 public:
  ConvertingUpdate(ConvertingWrite& write, UpdatedObjectInfo& inner) : write_(write), inner_(inner) {}
  Task<Result<Object>> updated_object(RequestContext&, const Object* existing) override { return write_.to_update(inner_, existing); }
  Preconditions preconditions() const override { return inner_.preconditions(); }
  Task<Status> may_create(RequestContext& context) override { return inner_.may_create(context); }
  ClientWrite* client_write() noexcept override { return inner_.client_write(); }
  // ConvertingWrite merges an apply in the request's version and calls the wrapped info there; the store below tracks no fields.
  Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing) override {
    return inner_.change_applied(context, object, existing);
  }

 private:
  ConvertingWrite& write_;
  UpdatedObjectInfo& inner_;
};

}  // namespace backplane::registry
