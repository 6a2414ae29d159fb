// The group stock.example.com in Rust: the same as ../stable-c, over the same tables, which tables.rs declares.
mod host;
mod manifest;
mod tables;

use host::{barrier, text, view, Host, Json, Result};
use std::os::raw::c_void;
use std::ptr::{null, null_mut};
use tables::*;

const MANIFEST: &[u8; include_bytes!("../plugin.json").len()] = include_bytes!("../plugin.json");

#[used]
#[link_section = ".note.backplane.plugin"]
static NOTE: manifest::Note<{ MANIFEST.len() }> = manifest::Note::new(MANIFEST);

/// What the plugin has; made in provision(), and kept until the process ends.
struct Stock {
    host: Host,
    shelves: *mut bp_informer,
    boxes: *mut bp_informer,
}

fn resource(name: &str) -> bp_resource {
    bp_resource { group: text("stock.example.com"), version: text("v1"), resource: text(name) }
}

unsafe fn stock<'a>(this: *mut c_void) -> &'a Stock {
    &*(this as *const Stock)
}

/// "namespace/shelf" of a box.
fn shelf_of(of: &Json) -> String {
    format!("{}/{}", of.string("/metadata/namespace"), of.string("/spec/shelf"))
}

// ---- the kind Shelf

unsafe extern "C" fn check_shelf(this: *mut c_void, object: bp_str, errors: *mut bp_field_errors, error: *mut bp_error) -> i32 {
    barrier(error, || {
        let host = &*(this as *const Host);
        let shelf = host.parse(object)?;
        let (slots, reserved) = (shelf.integer("/spec/slots"), shelf.integer("/spec/reserved"));
        if reserved > slots {
            let (value, detail) = (reserved.to_string(), format!("must not be more than the {slots} slots"));
            host.groups.field_error.unwrap()(errors, BP_FIELD_INVALID, text("spec.reserved"), text(&value), text(&detail));
        }
        Ok(())
    })
}

fn install_group(host: &'static Host) -> Result<()> {
    let this = host as *const Host as *mut c_void;
    let kind = Box::leak(Box::new(bp_kind {
        struct_size: size_of::<bp_kind>(),
        kind: text("Shelf"),
        this,
        set_defaults: None,
        check: Some(check_shelf),
        check_change: None,
        check_status: None,
        convert: None,
    }));
    let (kinds, schemas) = ([kind as *const bp_kind], [text(include_str!("../types.json"))]);
    let group = bp_group {
        struct_size: size_of::<bp_group>(),
        document: text(include_str!("../group.json")),
        schemas: schemas.as_ptr(),
        schema_count: 1,
        kinds: kinds.as_ptr(),
        kind_count: 1,
    };
    Host::checked(|error| unsafe { host.groups.install.unwrap()(host.host.context, &group, error) })
}

// ---- the admission rule

unsafe extern "C" fn label_box(this: *mut c_void, write: *const bp_write, patch: *mut bp_output, error: *mut bp_error) -> i32 {
    barrier(error, || {
        let host = &stock(this).host;
        let mut of = host.parse((*write).object)?;
        let shelf = of.string("/spec/shelf");
        of.set("/metadata/labels/shelf", &shelf)?;
        host.host.write.unwrap()(patch, text(&of.text()));
        Ok(())
    })
}

unsafe extern "C" fn check_box(this: *mut c_void, write: *const bp_write, error: *mut bp_error) -> i32 {
    barrier(error, || {
        let own = stock(this);
        let key = shelf_of(&own.host.parse((*write).object)?);
        let shelf = own.host.controllers.get.unwrap()(own.shelves, text(&key));
        own.host.host.release.unwrap()(shelf);
        if shelf.is_null() { Err(format!("there is no shelf {key}")) } else { Ok(()) }
    })
}

fn add_rule(own: &'static Stock) -> Result<()> {
    let matches = [bp_match { group: text("stock.example.com"), version: text("*"), resource: text("boxes"), subresource: text("") }];
    let rule = bp_admission {
        struct_size: size_of::<bp_admission>(),
        name: text("StockBoxes"),
        this: own as *const Stock as *mut c_void,
        flags: 0,
        operations: BP_CREATE | BP_UPDATE,
        matches: matches.as_ptr(),
        match_count: 1,
        configure: None,
        admit: Some(label_box),
        validate: Some(check_box),
    };
    Host::checked(|error| unsafe { own.host.admission.add.unwrap()(own.host.host.context, &rule, error) })
}

// ---- the controller: its keys are those of shelves

unsafe extern "C" fn box_event(this: *mut c_void, _kind: u32, object: bp_str, old: bp_str, queue: *mut bp_queue) {
    let host = &stock(this).host;
    for each in [object, old] {
        if let Ok(of) = host.parse(each) {
            host.controllers.enqueue.unwrap()(queue, text(&shelf_of(&of)));
        }
    }
}

struct Count<'a> {
    host: &'a Host,
    shelf: &'a str,
    boxes: u64,
}
unsafe extern "C" fn count_box(this: *mut c_void, _key: bp_str, object: bp_str) -> i32 {
    let count = &mut *(this as *mut Count);
    if let Ok(of) = count.host.parse(object) {
        count.boxes += u64::from(shelf_of(&of) == count.shelf);
    }
    0
}

unsafe extern "C" fn count_boxes(this: *mut c_void, key: bp_str, _queue: *mut bp_queue, error: *mut bp_error) -> i32 {
    barrier(error, || {
        let own = stock(this);
        let known = own.host.controllers.get.unwrap()(own.shelves, key);
        own.host.host.release.unwrap()(known);
        let (shelf, context) = (view(key), own.host.host.context);
        let Some((ns, name)) = shelf.split_once('/').filter(|_| !known.is_null()) else { return Ok(()) };
        let mut count = Count { host: &own.host, shelf, boxes: 0 };
        own.host.controllers.each.unwrap()(own.boxes, &mut count as *mut Count as *mut c_void, Some(count_box));
        let patch = format!("{{\"status\":{{\"boxes\":{}}}}}", count.boxes);
        let patched = Host::given(|error| {
            own.host.client.patch.unwrap()(context, &resource("shelves"), text(ns), text(name), text("status"), BP_PATCH_MERGE, text(&patch), error)
        })?;
        own.host.host.release.unwrap()(patched);
        Ok(())
    })
}

fn add_controller(own: &'static Stock) -> Result<()> {
    let this = own as *const Stock as *mut c_void;
    let of_shelves = bp_watch { struct_size: size_of::<bp_watch>(), informer: own.shelves, this, event: None };
    let of_boxes = bp_watch { struct_size: size_of::<bp_watch>(), informer: own.boxes, this, event: Some(box_event) };
    let watches = [&of_shelves as *const bp_watch, &of_boxes as *const bp_watch];
    let controller = bp_controller {
        struct_size: size_of::<bp_controller>(),
        name: text("stock"),
        this,
        workers: 1,
        watches: watches.as_ptr(),
        watch_count: 2,
        reconcile: Some(count_boxes),
    };
    Host::checked(|error| unsafe { own.host.controllers.add.unwrap()(own.host.host.context, &controller, error) })
}

// ---- the plugin

unsafe extern "C" fn provision(_this: *mut c_void, host: *const bp_host, error: *mut bp_error) -> i32 {
    barrier(error, || {
        let host = Host::find(host)?;
        let informer = |name: &str| {
            Host::given(|error| host.controllers.informer.unwrap()(host.host.context, &resource(name), text(""), error))
        };
        let own: &'static Stock = Box::leak(Box::new(Stock { host, shelves: informer("shelves")?, boxes: informer("boxes")? }));
        install_group(&own.host)?;
        add_rule(own)?;
        add_controller(own)
    })
}

struct Table(bp_plugin);
unsafe impl Sync for Table {}
static PLUGIN: Table = Table(bp_plugin {
    struct_size: size_of::<bp_plugin>(),
    this: null_mut(),
    configure: None,
    provision: Some(provision),
    validate: None,
    destroy: None,
});

#[no_mangle]
pub extern "C" fn backplane_stable_plugin(error: *mut bp_error) -> *const bp_plugin {
    if error.is_null() { null() } else { &PLUGIN.0 }
}
