# shellcheck shell=bash
minor=${KUBERNETES_VERSION#v1.}
link=
# Left out, every component would report v0.0.0-master and kubeadm would refuse.
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  link+=" -X $package.gitVersion=$KUBERNETES_VERSION -X $package.gitMajor=1"
  link+=" -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean"
done
go_build .
for name in kubectl kubeadm kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy; do
  ln -s kubernetes "$out/$name"
done
