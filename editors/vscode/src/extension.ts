// Starts `grade lsp`, and restarts it when its settings change.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const SECTION = "cudaGrader";
let client: LanguageClient | undefined;

function makeClient(): LanguageClient {
    const settings = vscode.workspace.getConfiguration(SECTION);
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const server: ServerOptions = {
        command: settings.get("command", "grade"),
        args: ["lsp"],
        options: { cwd: folder },
    };
    const options: LanguageClientOptions = {
        documentSelector: [{ scheme: "file", pattern: "**/*.cu" }],
        initializationOptions: {
            exercise: settings.get("exercise", ""),
            device: settings.get("device", "auto"),
            model: settings.get("model", true),
        },
    };
    return new LanguageClient(SECTION, "CUDA grader", server, options);
}

async function start(): Promise<void> {
    client = makeClient();
    try {
        await client.start();
    } catch (error) {
        const command = vscode.workspace.getConfiguration(SECTION).get("command", "grade");
        const advice = "Install it: pip install 'cuda-exercise-grader[editor]', or set cudaGrader.command.";
        void vscode.window.showErrorMessage(`"${command} lsp" does not start: ${error}. ${advice}`);
    }
}

async function stop(): Promise<void> {
    const running = client;
    client = undefined;
    if (running?.isRunning()) {
        await running.stop();
    }
}

async function restart(): Promise<void> {
    await stop();
    await start();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    context.subscriptions.push(
        vscode.commands.registerCommand(`${SECTION}.restart`, restart),
        vscode.workspace.onDidChangeConfiguration((change) => {
            if (change.affectsConfiguration(SECTION)) {
                void restart();
            }
        }),
    );
    await start();
}

export function deactivate(): Promise<void> {
    return stop();
}
