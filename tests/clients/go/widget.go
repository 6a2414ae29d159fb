package main

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Widget is the kind of the controllers' checks.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Size  int64  `json:"size,omitempty"`
	Color string `json:"color,omitempty"`
}

type WidgetStatus struct {
	Seen       int64              `json:"seen,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func (w *Widget) copy() *Widget {
	made := *w
	made.ObjectMeta = *w.ObjectMeta.DeepCopy()
	made.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &made
}

func (w *Widget) DeepCopyObject() runtime.Object { return w.copy() }

func (l *WidgetList) DeepCopyObject() runtime.Object {
	made := &WidgetList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for number := range l.Items {
		made.Items = append(made.Items, *l.Items[number].copy())
	}
	return made
}

func schemeWithWidgets() *runtime.Scheme {
	made := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(made)
	_ = apiextensionsv1.AddToScheme(made)
	version := schema.GroupVersion{Group: widgets.Group, Version: widgets.Version}
	made.AddKnownTypes(version, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(made, version)
	return made
}

func props(kind string, of map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: kind, Properties: of}
}

func widgetDefinition() *apiextensionsv1.CustomResourceDefinition {
	kept := true
	one := float64(1)
	size := props("integer", nil)
	size.Minimum = &one
	color := props("string", nil)
	color.Default = &apiextensionsv1.JSON{Raw: []byte(`"red"`)}
	condition := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &kept, Required: []string{"type"},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"type": props("string", nil)}}
	mapType := "map"
	conditions := apiextensionsv1.JSONSchemaProps{Type: "array", XListType: &mapType, XListMapKeys: []string{"type"},
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &condition}}
	all := props("object", map[string]apiextensionsv1.JSONSchemaProps{
		"spec":   props("object", map[string]apiextensionsv1.JSONSchemaProps{"size": size, "color": color}),
		"status": props("object", map[string]apiextensionsv1.JSONSchemaProps{"seen": props("integer", nil), "conditions": conditions})})
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + widgets.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: widgets.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema:           &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &all},
				SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.seen"}}}}},
	}
}
