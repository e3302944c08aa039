// Streams into pods that run: commands, ports and logs, over WebSockets and over SPDY.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"
)

func eventSink(ctx context.Context, w world) record.EventSink {
	return &typedcorev1.EventSinkImpl{Interface: w.client.CoreV1().Events(w.namespace)}
}

// A pod that answers lines on port 7000 and says what it does; made once.
const program = `import socketserver, sys, time
print("serving", flush=True)
class Upper(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile: self.wfile.write(line.upper())
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("", 7000), Upper).serve_forever()`

func runningPod(ctx context.Context, w world) (*corev1.Pod, error) {
	pods := w.client.CoreV1().Pods(w.namespace)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "server"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "host", Command: []string{"python3", "-c", program}}}}}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	err := until(ctx, "the pod runs and speaks", func() (found bool, err error) {
		if pod, err = pods.Get(ctx, "server", metav1.GetOptions{}); err != nil || pod.Status.Phase != corev1.PodRunning {
			return false, err
		}
		said, err := pods.GetLogs("server", &corev1.PodLogOptions{}).DoRaw(ctx)
		return err == nil && strings.Contains(string(said), "serving"), nil
	})
	return pod, err
}

func request(w world, subresource string) *rest.Request {
	return w.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(w.namespace).Name("server").SubResource(subresource)
}

func execIntoPods(ctx context.Context, w world) error {
	if _, err := runningPod(ctx, w); err != nil {
		return err
	}
	ask := func(command ...string) *rest.Request {
		return request(w, "exec").VersionedParams(&corev1.PodExecOptions{Container: "c", Command: command, Stdin: true, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	}
	both := func(r *rest.Request) (map[string]remotecommand.Executor, error) {
		web, err := remotecommand.NewWebSocketExecutor(w.config, "GET", r.URL().String())
		if err != nil {
			return nil, err
		}
		old, err := remotecommand.NewSPDYExecutor(w.config, "POST", r.URL())
		if err != nil {
			return nil, err
		}
		fall, err := remotecommand.NewFallbackExecutor(web, old, httpstream.IsUpgradeFailure)
		return map[string]remotecommand.Executor{"WebSocket": web, "SPDY": old, "fallback": fall}, err
	}
	large := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB there and back
	echo, err := both(ask("sh", "-c", "cat; echo done >&2"))
	if err != nil {
		return err
	}
	for name, executor := range echo {
		var out, errors bytes.Buffer
		if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(large), Stdout: &out, Stderr: &errors}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if out.String() != large || errors.String() != "done\n" {
			return fmt.Errorf("%s: %d bytes came back, and %q", name, out.Len(), errors.String())
		}
	}
	leave, err := both(ask("sh", "-c", "exit 7"))
	if err != nil {
		return err
	}
	for name, executor := range leave {
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
		if code, fits := err.(utilexec.CodeExitError); !fits || code.Code != 7 {
			return fmt.Errorf("%s: exit code 7 is told as %v", name, err)
		}
	}
	return nil
}

func forwardPorts(ctx context.Context, w world) error {
	if _, err := runningPod(ctx, w); err != nil {
		return err
	}
	address := request(w, "portforward").URL()
	web, err := portforward.NewSPDYOverWebsocketDialer(address, w.config)
	if err != nil {
		return err
	}
	transport, upgrader, err := spdy.RoundTripperFor(w.config)
	if err != nil {
		return err
	}
	for name, dialer := range map[string]httpstream.Dialer{"WebSocket": web, "SPDY": spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, address)} {
		if err := forward(dialer); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func forward(dialer httpstream.Dialer) error {
	stop, ready := make(chan struct{}), make(chan struct{})
	defer close(stop)
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:7000"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-failed:
		return err
	case <-time.After(20 * time.Second):
		return fmt.Errorf("not ready")
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err
	}
	for range 3 { // connections one after the other, and each both ways
		connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[0].Local))
		if err != nil {
			return err
		}
		connection.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintln(connection, "hello")
		answer := make([]byte, 6)
		_, err = io.ReadFull(connection, answer)
		connection.Close()
		if err != nil || string(answer) != "HELLO\n" {
			return fmt.Errorf("the answer is %q: %w", answer, err)
		}
	}
	return nil
}

func followLogs(ctx context.Context, w world) error {
	if _, err := runningPod(ctx, w); err != nil {
		return err
	}
	pods := w.client.CoreV1().Pods(w.namespace)
	talker := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "talker"}, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "c", Image: "host", Command: []string{"sh", "-c", "for i in 1 2 3 4 5; do echo line $i; sleep 0.2; done"}}}}}
	if _, err := pods.Create(ctx, talker, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := until(ctx, "the talker runs", func() (bool, error) {
		pod, err := pods.Get(ctx, "talker", metav1.GetOptions{})
		return err == nil && pod.Status.Phase != corev1.PodPending, err
	}); err != nil {
		return err
	}
	stream, err := pods.GetLogs("talker", &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	said, err := io.ReadAll(stream)
	if err != nil || strings.Count(string(said), "line ") != 5 {
		return fmt.Errorf("followed %q: %w", said, err)
	}
	two := int64(2)
	last, err := pods.GetLogs("talker", &corev1.PodLogOptions{TailLines: &two, Timestamps: true}).DoRaw(ctx)
	if err != nil || strings.Count(string(last), "\n") != 2 || !strings.Contains(string(last), "line 5") {
		return fmt.Errorf("the last two lines are %q: %w", last, err)
	}
	return nil
}
