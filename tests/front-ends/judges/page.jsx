// A page with `useChat`, as a reader of its documentation writes it.

import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { useChat } from "ai-react";
import { createRoot } from "react-dom/client";

function Part({ part, answer }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "file") return <img src={part.url} alt="a picture" />;
  if (!part.toolCallId) return null;
  return (
    <section>
      <b>{part.type}</b> <i>{part.state}</i> <code>{JSON.stringify(part.input)}</code> <output>{JSON.stringify(part.output)}</output>
      {part.state === "approval-requested" && (
        <>
          <em>{part.approval.descriptor.reason}</em>
          <button onClick={() => answer({ id: part.approval.id, approved: true })}>Allow</button>
          <button onClick={() => answer({ id: part.approval.id, approved: false, reason: "not now" })}>Deny</button>
        </>
      )}
    </section>
  );
}

function Chat({ id, first }) {
  const { messages, sendMessage, status, error, addToolApprovalResponse } = useChat({
    id,
    messages: first,
    resume: true,
    transport: new DefaultChatTransport({ api: "/api/chat" }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text: event.target.elements.text.value });
  };
  return (
    <main data-status={status}>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} answer={addToolApprovalResponse} />
          ))}
        </article>
      ))}
      {error && <strong>{error.message}</strong>}
      <form onSubmit={send}>
        <input name="text" />
        <button>Send</button>
      </form>
    </main>
  );
}

const id = new URLSearchParams(location.search).get("id");
const first = await (await fetch(`/api/chat/${id}`)).json();
createRoot(document.getElementById("root")).render(<Chat id={id} first={first} />);
