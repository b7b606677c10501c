# shellcheck shell=bash
link=$(kubernetes_version_flags)
go_build .
for name in kubectl kubeadm kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy; do
  ln -s kubernetes "$out/$name"
done
